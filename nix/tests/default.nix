# All cases of this folder: `{ <file>.<case> = { expr; expected; }; }`, the form of nix-unit. A file that is not listed
# here by name is a file of cases.
let
  others = [
    "default.nix"
    "generated.nix"
    "message.nix"
    "plan.nix"
    "run.nix"
  ];
  isCases = name: type: type == "regular" && builtins.match ".*\\.nix" name != null && !(builtins.elem name others);
  entries = builtins.readDir ./.;
  files = builtins.filter (name: isCases name entries.${name}) (builtins.attrNames entries);
in
builtins.listToAttrs (
  map (file: {
    name = builtins.head (builtins.match "(.*)\\.nix" file);
    value = import (./. + "/${file}");
  }) files
)
