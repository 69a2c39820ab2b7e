{ n, provider, make, a, ... }:
{
  stack = {
    checks = [ { name = "x"; } ];
  };
}
