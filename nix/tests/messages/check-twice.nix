{ n, provider, make, a, ... }:
{
  stack = {
    checks = let c = n.check { name = "x"; condition = true; message = ""; }; in [ c c ];
  };
}
