# Strings of a configuration: plain ones, ones that mention builds, and ones made from references.
#
# A string comes in three versions (README.md, "References"): `p` with placeholders, and, looked at only if `p` is made
# from references, `w` with witnesses and `l` with what the ledger knows.
let
  inherit (builtins)
    attrNames
    elem
    filter
    getContext
    head
    isAttrs
    isString
    length
    map
    removeAttrs
    stringLength
    substring
    unsafeDiscardStringContext
    ;
  internal = import ./internal.nix;
  reference = import ./reference.nix;
  ledgers = import ./ledger.nix;
  builds = import ./build.nix;
  node = import ./node.nix;

  storePrefix = "${builtins.storeDir}/";
  onlyReferences = [ reference.anchorPath ];
  isStorePath = text: substring 0 (stringLength storePrefix) text == storePrefix;
in
# `fail at problem` throws; `notesBuilds` says whether the IR has a list for builds beside the tree.
{
  ledger,
  fail,
  notesBuilds,
}:
let
  # Where the IR has no list for builds, the string as a whole has to be one.
  withBuilds =
    at: needed: text:
    if needed == [ ] then
      node.plain text
    else if notesBuilds then
      node.noteBuilds at needed (node.plain text)
    else if length needed == 1 && isStorePath text then
      node.build (head needed // { path = text; })
    else
      fail at "mentions a Nix build inside of a longer text; give the path of one build, with `drv` or `drvFile`";

  plain =
    at: text: context:
    let
      needed = if context == { } then [ ] else builds.ofContext context;
      bare = unsafeDiscardStringContext text;
    in
    if reference.hasFragment bare then
      fail at "holds a piece of a reference that Nix lost track of; compute it inside `derive`"
    else
      withBuilds at needed bare;

  # A string that Nix computes from `refs`: `l`, once they are known.
  computed =
    at: refs: l:
    let
      states = map (ref: (ledgers.look ledger ref).state) refs;
      secret = filter (ref: (ledgers.look ledger ref).state == "secret") refs;
      context = getContext l;
      late = map reference.decode (reference.keysOf context);
    in
    if secret != [ ] then
      fail at "computes with the secret '${reference.show (head secret)}'; use `deriveSensitive`"
    else if elem "unknown" states then
      node.derived refs { }
    else if !(isString l) then
      fail at "has another shape once outputs are known; compute it inside `derive`"
    else if late != [ ] then
      node.derived (refs ++ filter (ref: !(elem ref refs)) late) { }
    else
      plain at l context;

  # A string made from references: concatenation, which the executor can do, or else Nix has to compute it.
  made =
    at: keys: context: p: w: l:
    let
      bare = unsafeDiscardStringContext p;
      isConcatenation = isString w && reference.isConcatenation bare w;
      template = reference.partsOf bare;
      used = map (part: part.__ref) (filter isAttrs template);
      refs =
        if !isConcatenation then
          map reference.decode keys
        else if length used == length keys then
          used
        else
          internal._uniqueBy builtins.toJSON used;
      needed = if attrNames context == onlyReferences then [ ] else builds.ofContext (removeAttrs context onlyReferences);
    in
    if needed != [ ] && !notesBuilds then
      fail at "mixes a Nix build with an output; write it inside `derive`"
    else
      node.use at refs (
        node.noteBuilds at needed (
          if isConcatenation then node.derived refs { inherit template; } else computed at refs l
        )
      );
in
at: p: w: l:
let
  context = getContext p;
  keys = reference.keysOf context;
in
if keys == [ ] then plain at p context else made at keys context p w l
