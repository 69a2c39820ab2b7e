# The package set of one system. Programs are looked for on the host when something is built, not before.
system:
let
  # A derivation that runs a script with the host's programs.
  script =
    name: attrs: text:
    derivation (
      attrs
      // {
        inherit name system;
        builder = "/bin/sh";
        args = [
          "-e"
          ./setup.sh
        ];
        scriptText = text;
        passAsFile = [ "scriptText" ] ++ attrs.passAsFile or [ ];
      }
    );

  # Stands for a package that the host has anyway.
  hosted = name: script "host-${name}" { } "mkdir -p $out/bin";

  callPackage =
    file: overrides:
    let
      function = import file;
      wanted = builtins.functionArgs function;
    in
    function (builtins.intersectAttrs wanted pkgs // overrides);

  pkgs = {
    inherit callPackage;

    runCommand = script;

    writeShellScriptBin =
      name: text:
      script name {
        program = "#!/bin/sh\n${text}";
        passAsFile = [ "program" ];
      } ''mkdir -p $out/bin; cp "$programPath" $out/bin/${name}; chmod +x $out/bin/${name}'';

    mkShell = attrs: script "shell" { } "touch $out";

    rustPlatform.buildRustPackage =
      attrs:
      script "${attrs.pname}-${attrs.version}" {
        inherit (attrs) pname src;
        prebuilt = builtins.getEnv "NIVIS_HOST_BIN";
        doCheck = attrs.doCheck or true;
        cargoTestFlags = attrs.cargoTestFlags or [ ];
      } (builtins.readFile ./build-rust.sh);

    python3.withPackages =
      select:
      script "host-python3" {
        packages = select { jsonschema = "jsonschema"; };
        given = builtins.getEnv "NIVIS_HOST_PYTHON";
      } (builtins.readFile ./python.sh);

    cargo = hosted "cargo";
    clippy = hosted "clippy";
    cmake = hosted "cmake";
    git = hosted "git";
    go = hosted "go";
    nix = hosted "nix";
    nixfmt = hosted "nixfmt";
    nixfmt-tree = hosted "nixfmt-tree";
    rustc = hosted "rustc";
    rustfmt = hosted "rustfmt";
  };
in
pkgs
