{ n, provider, make, a, ... }:
{
  stack = {
    removed = [ { destroy = true; } ];
  };
}
