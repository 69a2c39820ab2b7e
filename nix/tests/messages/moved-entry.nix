{ n, provider, make, a, ... }:
{
  stack = {
    moved = [ { from = "p.t.x"; } ];
  };
}
