{ n, provider, make, a, ... }:
{
  stack = {
    removed = [
      {
        from = "p.t.x";
        destroy = "no";
      }
    ];
  };
}
