# Flake apps: `nix run .#apply` and its siblings.
let
  inherit (builtins) listToAttrs map;
  internal = import ./internal.nix;

  verbs = [
    "plan"
    "apply"
    "destroy"
    "show"
    "output"
    "validate"
  ];

  checkArgs = internal._checkArgs {
    function = "mkApps";
    allowed = [
      "pkgs"
      "nivis"
      "stack"
    ];
    required = [
      "pkgs"
      "nivis"
    ];
  };
in
{
  make =
    args:
    let
      inherit (checkArgs args) pkgs nivis;
      stack = args.stack or "default";
      # The command's own default is `.#default`.
      installable = if stack == "default" then "" else "'.#${stack}' ";
      app = verb: {
        name = verb;
        value = {
          type = "app";
          program = "${
            pkgs.writeShellScriptBin "nivis-${verb}" ''
              exec ${nivis}/bin/nivis ${verb} ${installable}"$@"
            ''
          }/bin/nivis-${verb}";
        };
      };
    in
    if builtins.match "[A-Za-z0-9_.-]+" stack == null then
      throw "nivis.mkApps: 'stack' is \"${stack}\"; name an output below `nivis`, of letters, digits, '-', '_' and '.'"
    else
      listToAttrs (map app verbs);
}
