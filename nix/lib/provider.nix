# Providers: which program manages a kind of resource, and how it is configured.
let
  internal = import ./internal.nix;

  checkArgs = internal._checkArgs {
    function = "provider";
    of = internal._ofName "id";
    allowed = [
      "id"
      "source"
      "version"
      "config"
    ];
    required = [
      "id"
      "source"
    ];
  };
in
{
  make =
    args:
    let
      checked = checkArgs args;
    in
    {
      _type = "nivis.provider";
      id = internal._staticName "provider" "id" checked.id;
      inherit (checked) source;
      version = checked.version or null;
      config = checked.config or { };
    };
}
