# The flake's packages, for one system.
pkgs:
let
  nivis = pkgs.callPackage ./package.nix { };
in
{
  inherit nivis;
  default = nivis;
}
