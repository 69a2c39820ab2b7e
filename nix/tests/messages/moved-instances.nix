{ n, provider, make, a, ... }:
{
  stack = {
    moved = [
      {
        from = "p.t.x";
        to = n.forEach [ "k" ] (_: _: make "y" { });
      }
    ];
  };
}
