{ n, provider, make, a, ... }:
{
  stack = [ a ];
}
