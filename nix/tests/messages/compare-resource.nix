{ n, provider, make, a, ... }:
{
  ledger.compare = true;
  stack.resources = [
    a
    (if builtins.stringLength "${a.ref "id"}" > 60 then make "b" { } else make "c" { })
  ];
}
