{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = { y = x: x; }; })
    ];
  };
}
