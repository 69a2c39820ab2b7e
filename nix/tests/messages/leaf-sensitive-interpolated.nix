{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = "x${n.sensitive "y"}"; })
    ];
  };
}
