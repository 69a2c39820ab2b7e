{ n, provider, make, a, ... }:
{
  stack = {
    data = n.data {
      inherit provider;
      type = "t";
      name = "b";
      meta.lifecycle = { };
    };
  };
}
