{ n, provider, make, a, ... }:
{
  stack = {
    providers = [ a ];
  };
}
