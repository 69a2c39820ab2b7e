{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.resource {
      provider = "p";
      type = "t";
      name = "b";
    };
  };
}
