{ n, provider, make, a, ... }:
{
  stack = {
    deferred = [ ];
  };
}
