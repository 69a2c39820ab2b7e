{ n, provider, make, a, ... }:
{
  stack = {
    checks = [ (n.check { name = "x"; condition = true; }) ];
  };
}
