{ n, provider, make, a, ... }:
{
  ledger = {
    outputs."p.t.a".password.__sensitiveRef = {
      resource = "p.t.a";
      path = [ "password" ];
    };
  };
  stack = {
    resources = [
      a
      (make "b" { x = builtins.toJSON "${a.ref "password"}"; })
    ];
  };
}
