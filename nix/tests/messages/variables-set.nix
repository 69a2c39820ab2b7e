{ n, provider, make, a, ... }:
{
  stack.variables = [ "x" ];
}
