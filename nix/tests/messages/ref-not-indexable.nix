{ n, provider, make, a, ... }:
{
  ledger = { outputs."p.t.a".id = "x"; };
  stack = {
    resources = [
      a
      (make "b" { x = n.derive (a.ref [ "id" 0 ]) (x: x); })
    ];
  };
}
