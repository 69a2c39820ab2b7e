{ n, provider, make, a, ... }:
{
  stack = {
    outputs = [ ];
  };
}
