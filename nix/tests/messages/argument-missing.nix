{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.resource {
      inherit provider;
      name = "b";
    };
  };
}
