{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "a" { x = 1; })
    ];
  };
}
