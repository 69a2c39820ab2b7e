{ n, provider, make, a, ... }:
{
  stack = {
    providers = n.provider {
      id = "p";
      source = "other";
    };
    resources = a;
  };
}
