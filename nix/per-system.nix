# `perSystem nixpkgs (pkgs: value)` is `{ <system> = value; }` for every system we build on.
nixpkgs: make:
builtins.listToAttrs (
  map
    (system: {
      name = system;
      value = make nixpkgs.legacyPackages.${system};
    })
    [
      "x86_64-linux"
      "aarch64-linux"
      "x86_64-darwin"
      "aarch64-darwin"
    ]
)
