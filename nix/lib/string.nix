# Strings of a configuration: plain ones, ones that mention builds, and ones made from references.
#
# A string comes in several versions (README.md, "References"): `p` with placeholders, and, looked at only if `p` is made
# from references, `w` with witnesses; of a string that is no concatenation, `others` gives the exact references and `l`,
# the string with what the ledger knows.
let
  inherit (builtins)
    elem
    filter
    getContext
    hasContext
    head
    isString
    length
    map
    removeAttrs
    stringLength
    substring
    unsafeDiscardStringContext
    ;
  reference = import ./reference.nix;
  ledgers = import ./ledger.nix;
  builds = import ./build.nix;
  node = import ./node.nix;

  storePrefix = "${builtins.storeDir}/";
  isStorePath = text: substring 0 (stringLength storePrefix) text == storePrefix;
  buildsOf = text: if hasContext text then builds.ofContext (getContext text) else [ ];
  otherBuilds = context: builds.ofContext (removeAttrs context [ reference.anchorPath ]);
in
# `fail at problem` throws; `build at build` is the leaf for one build; `notesBuilds` says whether the IR has a list for
# builds beside the tree; `startOf` is `reference.placeholderStart`, as far as possible from a table; `edges at refs` are
# the edges of a leaf.
{
  ledger,
  fail,
  build,
  notesBuilds,
  startOf,
  edges,
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
      build at (head needed // { path = text; })
    else
      fail at "mentions a Nix build inside of a longer text; give the path of one build, with `drv` or `drvFile`";

  plain =
    at: text:
    if reference.hasFragment text then
      fail at "holds a piece of a reference that Nix lost track of; compute it inside `derive`"
    else if hasContext text then
      withBuilds at (buildsOf text) (unsafeDiscardStringContext text)
    else
      node.plain text;

  # A string that Nix computes from `refs`: `l`, once they are known.
  computed =
    at: refs: l:
    let
      states = map (ref: (ledgers.look ledger ref).state) refs;
      secret = filter (ref: (ledgers.look ledger ref).state == "secret") refs;
      late = map reference.decode (reference.keysOf (getContext l));
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
      plain at l;

  # A string made from references: concatenation, which the executor can do, or else Nix has to compute it.
  made =
    at: p: w: others:
    let
      template = if isString w then reference.template startOf p w else null;
      leaf = {
        value.__derived = {
          inherit (template) inputs refs;
          template = template.parts;
        };
        edges = edges at template.refs;
        notes = [ ];
      };
      # The slow way.
      context = getContext (others at).exact;
      exactRefs = map reference.decode (reference.keysOf context);
      slow = computed at exactRefs (others at).l;
    in
    if template == null then
      noteMixed at (otherBuilds context) (slow // { edges = edges at exactRefs ++ slow.edges; })
    else if hasContext w then
      noteMixed at (buildsOf w) leaf
    else
      leaf;

  noteMixed =
    at: needed: leaf:
    if needed != [ ] && !notesBuilds then
      fail at "mixes a Nix build with an output; write it inside `derive`"
    else
      node.noteBuilds at needed leaf;
in
at: p: w: others:
# Witnesses have no context: where one version has it and the other has not, references are the difference.
if hasContext p && (isString w && !(hasContext w) || getContext p ? ${reference.anchorPath}) then
  made at p w others
else
  plain at p
