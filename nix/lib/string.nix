# Strings of a configuration: plain ones, ones that mention builds, and ones made from references.
#
# A string comes in several versions (README.md, "References"): `p` with placeholders, and, looked at only if `p` is made
# from references, `w` with witnesses; of a string that is no concatenation, `others` gives `exact`, with exact references, and
# `l`, the string with what the ledger knows.
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
# `fail tree at problem` throws; `build tree at build` is the leaf for one build; `startOf` is `reference.placeholderStart`, as
# far as possible from a table; `others tree at` are the other versions. `tree` is as in leaf.nix.
{
  ledger,
  fail,
  build,
  startOf,
  others,
}:
let
  # Where the IR has no list for builds, the string as a whole has to be one.
  withBuilds =
    tree: at: needed: text:
    if needed == [ ] then
      node.plain text
    else if tree.notesBuilds then
      node.noteBuilds at needed (node.plain text)
    else if length needed == 1 && isStorePath text then
      build tree at (head needed // { path = text; })
    else
      fail tree at "mentions a Nix build inside of a longer text; give the path of one build, with `drv` or `drvFile`";

  plain =
    tree: at: text:
    if reference.hasFragment text then
      fail tree at "holds a piece of a reference that Nix lost track of; compute it inside `derive`"
    else if hasContext text then
      withBuilds tree at (buildsOf text) (unsafeDiscardStringContext text)
    else
      { value = text; };

  # A string that Nix computes from `refs`: `l`, once they are known.
  computed =
    tree: at: refs: l:
    let
      states = map (ref: (ledgers.look ledger ref).state) refs;
      secret = filter (ref: (ledgers.look ledger ref).state == "secret") refs;
      late = map reference.decode (reference.keysOf (getContext l));
    in
    if secret != [ ] then
      fail tree at "computes with the secret '${reference.show (head secret)}'; use `deriveSensitive`"
    else if elem "unknown" states then
      node.derived refs { }
    else if !(isString l) then
      fail tree at "has another shape once outputs are known; compute it inside `derive`"
    else if late != [ ] then
      node.derived (refs ++ filter (ref: !(elem ref refs)) late) { }
    else
      plain tree at l;

  # No concatenation: Nix has to compute it.
  slow =
    tree: at:
    let
      other = others tree at;
      context = getContext other.exact;
      refs = map reference.decode (reference.keysOf context);
      leaf = computed tree at refs other.l;
    in
    noteMixed tree at (otherBuilds context) (
      leaf // { edges = tree.edges at refs ++ leaf.edges or [ ]; }
    );

  # A string that mentions builds, too.
  made =
    tree: at: p: w:
    let
      template = if isString w then reference.template startOf p w else null;
    in
    if template == null then
      slow tree at
    else
      noteMixed tree at (buildsOf w) {
        value.__derived = template;
        edges = tree.edges at template.refs;
      };

  noteMixed =
    tree: at: needed: leaf:
    if needed != [ ] && !tree.notesBuilds then
      fail tree at "mixes a Nix build with an output; write it inside `derive`"
    else
      node.noteBuilds at needed leaf;
in
tree: at: p: w:
if !(hasContext p) then
  plain tree at p
# A string made from references and nothing else: witnesses have no context. Mostly a concatenation, which the executor can do.
else if isString w && !(hasContext w) then
  let
    template = reference.template startOf p w;
  in
  if template == null then
    slow tree at
  else
    {
      value.__derived = template;
      edges = tree.edges at template.refs;
    }
else if getContext p ? ${reference.anchorPath} then
  made tree at p w
else
  plain tree at p
