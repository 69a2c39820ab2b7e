{ n, provider, make, a, ... }:
{
  stack.variables.x = {
    default = 1;
    validation = x: x > 0;
  };
}
