{ n, provider, make, a, ... }:
{
  ledger.outputs."p.t.a".names = [ "x" ];
  stack = {
    resources = {
      inherit a;
      more.nodes = n.derive (a.ref "names") (names: names);
    };
  };
}
