{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = builtins.head (builtins.match "(.*)" "${a.ref "id"}"); })
    ];
  };
}
