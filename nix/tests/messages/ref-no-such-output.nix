{ n, provider, make, a, ... }:
{
  ledger = { outputs."p.t.a".tags.env = "x"; };
  stack = {
    resources = [
      a
      (make "b" { x = n.derive (a.ref [ "tags" "evn" ]) (x: x); })
    ];
  };
}
