{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = builtins.elemAt (builtins.split "[.]" "x.${builtins.substring 8 12 "${a.ref "id"}"}") 2; })
    ];
  };
}
