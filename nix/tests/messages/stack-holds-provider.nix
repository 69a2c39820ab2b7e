{ n, provider, make, a, ... }:
{
  stack = {
    resources = [ provider ];
  };
}
