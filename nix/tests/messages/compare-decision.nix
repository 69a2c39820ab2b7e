{ n, provider, make, a, ... }:
{
  ledger.compare = true;
  stack.resources = [
    a
    (make "b" { size = builtins.stringLength "${a.ref "id"}"; })
  ];
}
