{ n, provider, make, a, ... }:
{
  ledger = { outputs."p.t.a".id = "known"; };
  stack = {
    resources = [
      a
      (make "b" { x = if "${a.ref "id"}" == "known" then 1 else builtins.toJSON "${a.ref "id"}"; })
    ];
  };
}
