{ n, provider, make, a, ... }:
{
  ledger = { outputs."p.t.a".tags = { }; };
  stack = {
    resources = [
      a
      (make "b" { x = builtins.toJSON "${a.ref "tags"}"; })
    ];
  };
}
