{ n, provider, make, a, ... }:
{
  stack = {
    resources = {
      inherit a;
      nodes = n.derive (n.ref "p.t.b" "names") (_: [ ]);
    };
  };
}
