# Nix itself refuses, so that no build can contain a placeholder. (Nix before 2.9 says less than newer ones.)
{ n, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" {
        x = n.drv (derivation {
          name = "img";
          system = "x86_64-linux";
          builder = "/bin/sh";
          id = "${a.ref "id"}";
        });
      })
    ];
  };
}
