{ n, provider, make, a, ... }:
{
  stack = {
    providers = n.provider {
      id = "q";
      source = "builtin";
      config.token = n.sensitive "x";
    };
  };
}
