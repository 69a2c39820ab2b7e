{ n, provider, make, a, ... }:
{
  stack.variables.x = {
    type = "bool";
    default = "no";
  };
}
