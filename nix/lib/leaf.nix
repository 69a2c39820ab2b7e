# From the tree an author wrote to the tree in the IR: plain data and leaf markers.
#
# A tree is walked in two versions at once (README.md, "References"): `p` with placeholders, which decides its shape, and,
# looked at only where a string needs it, `w` with witnesses. Others are looked into by path where they are needed.
let
  inherit (builtins)
    attrNames
    elemAt
    foldl'
    fromJSON
    genList
    hasContext
    isAttrs
    isInt
    isList
    isString
    length
    map
    mapAttrs
    toJSON
    typeOf
    unsafeDiscardStringContext
    ;
  internal = import ./internal.nix;
  builds = import ./build.nix;
  ledgers = import ./ledger.nix;
  node = import ./node.nix;
  strings = import ./string.nix;

  # Stands where a version of the tree has no counterpart.
  missing = {
    _type = "nivis.missing";
  };

  # What `at` leads to in a version of a tree.
  within = foldl' (
    tree: step:
    if isInt step then
      if isList tree && step < length tree then elemAt tree step else missing
    else
      tree.${step} or missing
  );

  # Sets that Nix turns into strings, as `toJSON` does too.
  isStringLike = value: isAttrs value && (value ? __toString || value ? outPath);
  stringOf = value: if isStringLike value then "${value}" else value;

  secretBuild = "uses a Nix build inside `deriveSensitive`; builds are in the store, where everybody can read them, so give the secret to the resource itself";

  # Types of values that are in the IR as they are.
  plainTypes = {
    int = true;
    bool = true;
    null = true;
  };

  # What stands at a place of `tree` in another version of the stack.
  find =
    tree: stack: at:
    within (tree.find stack) (genList (i: elemAt at (tree.depth + i)) (length at - tree.depth));

  # Does a place differ from one value of an output to another, with nothing left that says so?
  differs =
    p: w:
    if isString p then
      !(hasContext p) && p != w
    else if isAttrs p then
      !(isAttrs w)
      || internal._kind p != internal._kind w
      || internal._kind p == null && !(builds.isDerivation p) && attrNames p != attrNames w
    else if isList p then
      !(isList w) || length p != length w
    else
      typeOf p != "lambda" && p != w;
  # Everything is shared by all trees of an evaluation; what is different from one to another is in `tree`:
  # - `where at` names a place for messages;
  # - `edges at refs` are the edges of a leaf;
  # - `find stack` is the same tree in another version of the stack, and `depth` is how many steps of a place lead to it;
  # - `notesBuilds` says whether the IR has a list for builds beside the tree;
  # - `inSecret`, whether secrets are among the values;
  # - `stringOf` makes a string of the author's value there.
  #
  # `startOf` is `reference.placeholderStart`, as far as possible from a table. `exact` and `l` are the stack with exact references,
  # and with what the ledger knows.
  walker =
    {
      ledger,
      startOf,
      exact,
      l,
    }:
    let
      isQuick = !(ledger ? compare);

      fail =
        tree: at: problem:
        throw "nivis.plan: ${tree.where at} ${problem}";

      build =
        tree: at: build:
        if tree.inSecret then fail tree at secretBuild else node.build build;

      string = strings {
        inherit
          ledger
          fail
          build
          startOf
          ;
        others = tree: at: {
          exact = tree.stringOf (find tree exact at);
          l = tree.stringOf (find tree l at);
        };
      };

      # A walk of what the wrapper `p` has inside.
      inside =
        tree: at: name: more: p: w:
        walk (
          tree
          // {
            find = stack: (find tree stack at).${name} or missing;
            depth = length at;
          }
          // more
        ) at p.${name} (w.${name} or missing);

      derive =
        tree: at: p: w:
        let
          pending = node.derived p.refs (if p.sensitive then { sensitive = true; } else { });
          # For the executor's ears only, in an evaluation that has secrets.
          secret =
            let
              result = inside tree at "result" {
                inSecret = true;
                notesBuilds = false;
              } p w;
            in
            node.derived p.refs {
              sensitive = true;
              inherit (result) value;
            }
            // {
              edges = result.edges or [ ];
            };
          known = if p.sensitive && ledger ? secrets then secret else inside tree at "result" { } p w;
          leaf = if p.known then known else pending;
          used = leaf // {
            edges = tree.edges at p.refs ++ leaf.edges or [ ];
          };
        in
        if p.sensitive then node.noteSensitive at used else used;

      # A whole resource in place of one of its outputs.
      whole =
        tree: at: p: _:
        fail tree at "is '${p.id}' as a whole; use one of its outputs, such as `x.ref \"id\"`";

      kinds = {
        inherit derive;
        ref =
          tree: at: p: _:
          node.ref (tree.edges at [ p.__ref ]) (
            if ledgers.isVariable p.__ref then "__sensitiveRef" else "__ref"
          ) p.__ref;
        drv =
          tree: at: p: _:
          build tree at p.build;
        sensitive =
          tree: at: p: w:
          node.noteSensitive at (inside tree at "value" { } p w);
        resource = whole;
        data = whole;
        provider =
          tree: at: _: _:
          fail tree at "is a provider; it belongs under `provider` of a resource";
      };

      # A set that is no more than that is the most frequent.
      attrs =
        tree: at: p: w:
        let
          kind = internal._kind p;
          set = node.set p (map (entry tree at p w) (attrNames p));
        in
        if !(p ? _type || p ? type || p ? __toString || p ? outPath) then
          set
        else if kind != null then
          kinds.${kind} tree at p w
        else if builds.isDerivation p then
          build tree at (builds.ofDerivation p)
        else if isStringLike p then
          string (tree // { inherit stringOf; }) at "${p}" (stringOf w)
        else
          set;

      # The node of an attribute, with its name. Most are plain.
      entry =
        tree: at: p: w: name:
        let
          value = p.${name};
          step = if isQuick && isString value then string else walk;
          below = step tree (at ++ [ name ]) value (w.${name} or missing);
        in
        if isQuick && plainTypes ? ${typeOf value} then { inherit name value; } else below // { inherit name; };

      list =
        tree: at: p: w:
        let
          item = i: if isList w && i < length w then elemAt w i else missing;
        in
        node.list (genList (i: walk tree (at ++ [ i ]) (elemAt p i) (item i)) (length p));

      float =
        tree: at: p:
        if fromJSON (toJSON p) == p then
          node.plain p
        else
          fail tree at "is a number with more digits than this Nix prints; write it as a string";

      other =
        tree: at: p:
        let
          type = typeOf p;
        in
        if type == "float" then
          float tree at p
        else if type == "path" then
          node.plain (unsafeDiscardStringContext "${p}")
        else if type == "lambda" then
          fail tree at "is a function; give it its arguments"
        else
          node.plain p;

      # The node (node.nix) of what stands at `at` in a tree: `p` and `w` are its two versions.
      walk =
        tree: at: p: w:
        if !isQuick && differs p w then
          fail tree at "depends on an output in a way that Nix lost track of; compute it inside `derive`"
        else if isString p then
          string tree at p w
        else if isAttrs p then
          attrs tree at p w
        else if isList p then
          list tree at p w
        else
          other tree at p;
    in
    walk;
in
{
  inherit missing walker;
}
