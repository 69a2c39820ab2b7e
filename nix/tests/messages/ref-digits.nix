{ n, provider, make, a, ... }:
{
  ledger = { outputs."p.t.a".load = 0.12345678901; };
  stack = {
    resources = [
      a
      (make "b" { x = builtins.toJSON "${a.ref "load"}"; })
    ];
  };
}
