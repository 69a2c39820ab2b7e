{ n, provider, make, a, ... }:
{
  ledger = {
    outputs."p.t.a".login = {
      user = "joe";
      password.__sensitiveRef = {
        resource = "p.t.a";
        path = [ "password" ];
      };
    };
  };
  stack = {
    resources = [
      a
      (make "b" { x = n.derive { login = a.ref "login"; } ({ login }: "${login.user}:${login.password}"); })
    ];
  };
}
