{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.derive {
          img = derivation {
            name = "x";
            system = "x86_64-linux";
            builder = "/bin/sh";
          };
        } (x: x); })
    ];
  };
}
