{ n, provider, make, a, ... }:
{
  stack = {
    checks = [ (n.check { name = "x"; condition = n.ref "p.t.nowhere" "id"; message = ""; }) ];
  };
}
