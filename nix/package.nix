# The program, for `callPackage`.
{
  rustPlatform,
  cmake,
  nix,
  git,
  # Whether to run the tests that need nothing but the sources, Nix and git.
  doCheck ? false,
}:
let
  manifest = builtins.fromTOML (builtins.readFile ../Cargo.toml);
in
rustPlatform.buildRustPackage {
  pname = manifest.package.name;
  inherit (manifest.package) version;

  src = import ./source.nix [
    "Cargo.lock"
    "Cargo.toml"
    "build.rs"
    "docs"
    "nix"
    "proto"
    "src"
    "tests"
  ];
  cargoLock.lockFile = ../Cargo.lock;

  # For the TLS library.
  nativeBuildInputs = [ cmake ];

  inherit doCheck;
  nativeCheckInputs = [
    nix
    git
  ];
  cargoTestFlags = [ "--lib" ];

  meta = {
    inherit (manifest.package) description;
    homepage = manifest.package.repository;
    mainProgram = "nivis";
  };
}
