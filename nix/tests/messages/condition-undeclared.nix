{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.resource {
      inherit provider;
      type = "t";
      name = "b";
      meta = { postconditions = [ { condition = n.ref "p.t.nowhere" "id"; message = ""; } ]; };
    };
  };
}
