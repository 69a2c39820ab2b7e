{ n, provider, make, a, ... }:
{
  stack = {
    resources = [ 1 ];
  };
}
