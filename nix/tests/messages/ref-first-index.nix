{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = a.ref [ 0 ]; })
    ];
  };
}
