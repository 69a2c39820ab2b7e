{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.derive { id = "x-${a.ref "id"}"; } (x: x); })
    ];
  };
}
