{ n, provider, make, a, ... }:
{
  stack.variables.x.defualt = 1;
}
