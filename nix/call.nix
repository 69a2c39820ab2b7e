# What the executor evaluates: one plan, once, with one ledger.
#
# Everything arrives by `--argstr`, so no path or name is ever pasted into Nix source. The executor embeds this text and
# passes it by `--expr`; see README.md, "How it is called".
#
#   flake      flake reference, absolute (`git+file:///srv/infra?dir=prod`); "" when `file` is given
#   file       absolute path of a Nix file that is a plan, or an attribute set of plans; "" when `flake` is given
#   origin     what messages call the flake or file
#   attrPath   JSON list of names below the flake output `nivis`, or below the file's value
#   ledger     absolute path of the ledger file; "" in phase 0
#   secrets    absolute path of the file with secrets, for evaluations that may know them; "" for others
#   overrides  JSON object: flake references by name of the input that they replace
{
  flake ? "",
  file ? "",
  origin,
  attrPath ? "[\"default\"]",
  ledger ? "",
  secrets ? "",
  overrides ? "{}",
}:
let
  inherit (builtins)
    attrNames
    concatStringsSep
    filter
    foldl'
    fromJSON
    getFlake
    head
    isAttrs
    isFunction
    match
    trace
    ;

  path = fromJSON attrPath;
  shown = concatStringsSep "." ((if flake != "" then [ "nivis" ] else [ ]) ++ path);

  locked = getFlake flake;

  # What a flake says with some of its inputs replaced. `getFlake` cannot do that, and no reader of `self` can tell.
  overridden =
    let
      references = fromJSON overrides;
      unknown = filter (name: !(locked.inputs ? ${name})) (attrNames references);
      inputs = locked.inputs // builtins.mapAttrs (_: getFlake) references;
      folder = match "[^?]*[?](.*&)?dir=([^&]*).*" flake;
      file = "${locked.sourceInfo.outPath}/${if folder == null then "" else "${builtins.elemAt folder 1}/"}flake.nix";
      outputs = (import file).outputs (inputs // { inherit self; });
      self = outputs // locked.sourceInfo // { inherit inputs outputs; inherit (locked) sourceInfo; _type = "flake"; };
    in
    if unknown != [ ] then
      throw "nivis: ${origin} has no input '${head unknown}' to override; its inputs are: ${concatStringsSep ", " (attrNames locked.inputs)}"
    else
      outputs;

  # The executor takes this line out of the log, and shows positions in the flake by its real folder.
  outputs = trace "nivis-source: ${locked.sourceInfo.outPath}" (if overrides == "{}" then locked.outputs else overridden);

  root =
    if flake != "" then
      outputs.nivis
        or (throw "nivis: ${origin} has no output 'nivis'; add `nivis.default = nivis.lib.plan (…);` to its outputs")
    else
      import file;

  isPlan = isFunction root && path == [ "default" ];

  select =
    value: name:
    if isAttrs value && value ? ${name} then
      value.${name}
    else
      throw "nivis: ${origin} has no plan '${shown}'; name one of: ${
        concatStringsSep ", " (if isAttrs root then attrNames root else [ "default" ])
      }";

  plan = if isPlan then root else foldl' select root path;
in
if isFunction plan then
  # A plan that takes no secrets needs none.
  plan ({ inherit ledger; } // (if secrets == "" then { } else { inherit secrets; }))
else
  throw "nivis: '${shown}' of ${origin} is not a plan; make it with `nivis.lib.plan`"
