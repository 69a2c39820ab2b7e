# A stand-in for nixpkgs where that cannot be fetched: the few functions that the flake of this repository uses, on top of
# the programs of the host. It needs `sandbox = false`.
#
#   nix run .#apply --override-input nixpkgs path:$PWD/tests/flake/host-nixpkgs
#   nix flake check --override-input nixpkgs path:$PWD/tests/flake/host-nixpkgs
#
# With `--impure`, the environment variable NIVIS_HOST_PYTHON may name a Python that has jsonschema, and
# the environment variable NIVIS_HOST_BIN may name a nivis that is built already; it is taken instead of
# building one.
{
  outputs =
    { self }:
    {
      legacyPackages = builtins.listToAttrs (
        map
          (system: {
            name = system;
            value = import ./pkgs.nix system;
          })
          [
            "x86_64-linux"
            "aarch64-linux"
            "x86_64-darwin"
            "aarch64-darwin"
          ]
      );
    };
}
