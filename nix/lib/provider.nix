# Providers: which program manages a kind of resource, and how it is configured.
let
  inherit (builtins) hasContext isString match;
  internal = import ./internal.nix;

  checkArgs = internal._checkArgs {
    function = "provider";
    of = internal._ofName "id";
    allowed = [
      "id"
      "source"
      "version"
      "config"
      "meta"
    ];
    required = [
      "id"
      "source"
    ];
  };

  # The version constraint, which only a registry can honour.
  versionOf =
    id: source: version:
    if version == null then
      null
    else if !(isString version) || hasContext version || version == "" then
      throw "nivis.provider: 'version' of '${id}' is ${
        if version == "" then
          "empty"
        else if isString version then
          "a string that depends on a build or an output"
        else
          internal._describe version
      }; write a constraint such as \"~> 3.6\""
    else if isString source && !(hasContext source) && source != "builtin" && match "[/.~].*" source == null then
      version
    else
      throw "nivis.provider: '${id}' has a 'version', which chooses in a registry, but its 'source' is ${
        if source == "builtin" then
          "\"builtin\""
        else if isString source then
          "a path"
        else
          internal._describe source
      }; remove 'version', or write an address such as \"hashicorp/random\"";
in
{
  make =
    args:
    let
      checked = checkArgs args;
    in
    rec {
      _type = "nivis.provider";
      id = internal._staticName "provider" "id" checked.id;
      inherit (checked) source;
      version = versionOf id source (checked.version or null);
      config = checked.config or { };
      meta = checked.meta or null;
    };
}
