# What one needs to work on nivis.
pkgs:
pkgs.mkShell {
  packages = [
    pkgs.cargo
    pkgs.rustc
    pkgs.rustfmt
    pkgs.clippy
    pkgs.cmake
    pkgs.go
    pkgs.nixfmt
    (pkgs.python3.withPackages (python: [ python.jsonschema ]))
  ];
}
