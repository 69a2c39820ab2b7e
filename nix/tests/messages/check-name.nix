{ n, provider, make, a, ... }:
{
  stack = {
    checks = [ (n.check { name = a.ref "id"; condition = true; message = ""; }) ];
  };
}
