{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.resource "b";
  };
}
