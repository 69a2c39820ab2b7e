{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.drvFile ./drv-file.nix ""; })
    ];
  };
}
