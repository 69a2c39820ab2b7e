{ n, provider, make, a, ... }:
{
  ledger = { outputs."p.t.a".id = null; };
  stack = {
    resources = [
      a
      (make "b" { x = builtins.toJSON "${a.ref "id"}"; })
    ];
  };
}
