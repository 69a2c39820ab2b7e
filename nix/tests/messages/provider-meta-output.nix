{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    providers = n.provider {
      id = "q";
      source = "builtin";
      meta.module = "m-${a.ref "id"}";
    };
  };
}
