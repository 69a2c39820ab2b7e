{ n, provider, make, a, ... }:
{
  stack = {
    providers = n.provider {
      id = "q";
      src = "builtin";
    };
  };
}
