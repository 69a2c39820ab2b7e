# Everything that `nix flake check` builds, for one system.
pkgs:
let
  python = pkgs.python3.withPackages (packages: [ packages.jsonschema ]);

  source = import ./source.nix [
    "docs"
    "examples"
    "nix"
    "tests"
  ];

  # A derivation that succeeds if `commands`, run in the repository, do. Nix inside of it evaluates without a store.
  check =
    name: commands:
    pkgs.runCommand "nivis-${name}"
      {
        nativeBuildInputs = [
          pkgs.nix
          python
        ];
      }
      ''
        export NIX_REMOTE=dummy:// HOME="$TMPDIR"
        cd ${source}
        ${commands}
        touch "$out"
      '';
in
{
  library = check "library" "sh nix/tests/run.sh";
  conformance = check "conformance" "python3 tests/ir-conformance/check.py test";
  examples = check "examples" "sh nix/tests/examples.sh";
  package = pkgs.callPackage ./package.nix { doCheck = true; };
}
