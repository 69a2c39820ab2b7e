{ n, provider, make, a, ... }:
{
  stack.variables.x.type = [ "list" ];
}
