{ n, provider, make, a, ... }:
{
  ledger.outputs."p.t.a".names = [ "a" ];
  stack = {
    resources = [
      a
      (n.derive (a.ref "names") (map (name: make name { })))
    ];
  };
}
