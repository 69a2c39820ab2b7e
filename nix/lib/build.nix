# Nix builds in a configuration: which derivation makes a path.
let
  inherit (builtins)
    attrNames
    concatMap
    getContext
    hasContext
    head
    isAttrs
    isPath
    isString
    length
    unsafeDiscardStringContext
    ;
  internal = import ./internal.nix;

  isDerivation = value: isAttrs value && (value.type or null) == "derivation" && value ? drvPath;

  # [ { drv; output; } ] of the builds whose outputs a string mentions; `context` is its `getContext`.
  ofContext =
    context:
    concatMap (
      drv:
      map (output: { inherit drv output; }) context.${drv}.outputs or [ ]
    ) (attrNames context);

  ofDerivation = derivation: {
    path = unsafeDiscardStringContext derivation.outPath;
    drv = unsafeDiscardStringContext derivation.drvPath;
    output = derivation.outputName or "out";
  };

  ofString =
    function: text:
    let
      builds = ofContext (getContext text);
    in
    if length builds > 1 then
      throw "nivis.${function}: the string mentions ${toString (length builds)} builds; give one derivation"
    else
      { path = unsafeDiscardStringContext text; } // (if builds == [ ] then { } else head builds);

  describe =
    function: source:
    if isDerivation source then
      ofDerivation source
    else if isString source && hasContext source then
      ofString function source
    else if isPath source then
      { path = unsafeDiscardStringContext "${source}"; }
    else
      throw "nivis.${function}: expected a derivation, got ${internal._describe source}; give a package, such as `${function} pkgs.hello`";

  make = function: source: file: {
    _type = "nivis.drv";
    build =
      let
        build = describe function source;
      in
      if file == null then
        build
      else if !(isString file) || file == "" || hasContext file then
        throw "nivis.${function}: the file must be a plain, non-empty string; name a file below the output, such as `\"nixos.img\"`"
      else
        build // { path = "${build.path}/${file}"; };
  };
in
{
  inherit isDerivation make ofContext ofDerivation;
}
