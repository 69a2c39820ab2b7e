{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = "web-${a}"; })
    ];
  };
}
