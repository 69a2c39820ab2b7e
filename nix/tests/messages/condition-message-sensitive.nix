{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.resource {
      inherit provider;
      type = "t";
      name = "b";
      meta = { preconditions = [ { condition = false; message = n.deriveSensitive (a.ref "id") (id: id); } ]; };
    };
  };
}
