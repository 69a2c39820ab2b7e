{
  description = "Nix-native infrastructure: resources declared in Nix, applied by unmodified Terraform and OpenTofu providers";

  # The one input. Only what is built (packages, apps, checks, devShells, formatter) looks at it.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs =
    { self, nixpkgs }:
    let
      perSystem = import ./nix/per-system.nix nixpkgs;
    in
    {
      lib = import ./nix/lib;
      nivis.default = import ./examples/quick-start;
      packages = perSystem (pkgs: import ./nix/packages.nix pkgs);
      apps = perSystem (pkgs: self.lib.mkApps { inherit (import ./nix/packages.nix pkgs) nivis; inherit pkgs; });
      checks = perSystem (pkgs: import ./nix/checks.nix pkgs);
      devShells = perSystem (pkgs: { default = import ./nix/shell.nix pkgs; });
      formatter = perSystem (pkgs: pkgs.nixfmt-tree);
      overlays.default = final: _: { nivis = final.callPackage ./nix/package.nix { }; };
      templates.default = { path = ./nix/templates/minimal; description = "A stack of one resource"; };
    };
}
