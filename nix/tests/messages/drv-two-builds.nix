{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = let
          image =
            name:
            derivation {
              inherit name;
              system = "x86_64-linux";
              builder = "/bin/sh";
            };
        in
        n.drv "${image "a"} ${image "b"}"; })
    ];
  };
}
