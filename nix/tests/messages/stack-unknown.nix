{ n, provider, make, a, ... }:
{
  stack = {
    resorces = a;
  };
}
