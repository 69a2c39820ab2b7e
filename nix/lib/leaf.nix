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

  # `where at` names a place for messages; `edges at refs` are the edges of a leaf; `versions` are the tree with exact
  # references and with what the ledger knows. `inSecret` says that secrets are among the values.
  walker =
    {
      ledger,
      where,
      notesBuilds,
      startOf,
      edges,
      versions,
      inSecret ? false,
    }@context:
    let
      fail = at: problem: throw "nivis.plan: ${where at} ${problem}";

      build = at: build: if inSecret then fail at secretBuild else node.build build;

      string = strings {
        inherit
          ledger
          fail
          build
          startOf
          edges
          ;
        notesBuilds = notesBuilds && !inSecret;
      };
      others = at: mapAttrs (_: tree: within tree at) versions;

      # A walk of what a wrapper at a place has inside.
      inner =
        at: name: more:
        walker (
          context
          // {
            where = below: where (at ++ below);
            edges = below: edges (at ++ below);
            versions = mapAttrs (_: tree: (within tree at).${name} or missing) versions;
          }
          // more
        );
      inside =
        at: name: p: w: more:
        let
          found = inner at name more [ ] p.${name} (w.${name} or missing);
        in
        found // { notes = map (note: note // { at = at ++ note.at; }) found.notes; };

      derive =
        at: p: w:
        let
          pending = node.derived p.refs (if p.sensitive then { sensitive = true; } else { });
          # For the executor's ears only, in an evaluation that has secrets.
          secret =
            let
              result = inside at "result" p w { inSecret = true; };
            in
            node.derived p.refs {
              sensitive = true;
              inherit (result) value;
            }
            // {
              inherit (result) edges;
            };
          known = if p.sensitive && ledger ? secrets then secret else inside at "result" p w { };
          leaf = if p.known then known else pending;
          used = leaf // { edges = edges at p.refs ++ leaf.edges; };
        in
        if p.sensitive then node.noteSensitive at used else used;

      # A whole resource in place of one of its outputs.
      whole = at: p: fail at "is '${p.id}' as a whole; use one of its outputs, such as `x.ref \"id\"`";

      kinds = {
        inherit derive;
        ref =
          at: p: _:
          node.ref (edges at [ p.__ref ]) (if ledgers.isVariable p.__ref then "__sensitiveRef" else "__ref") p.__ref;
        drv = at: p: _: build at p.build;
        sensitive = at: p: w: node.noteSensitive at (inside at "value" p w { });
        resource = whole;
        data = whole;
        provider = at: _: fail at "is a provider; it belongs under `provider` of a resource";
      };

      attrs =
        at: p: w:
        let
          kind = internal._kind p;
        in
        if kind != null then
          kinds.${kind} at p w
        else if builds.isDerivation p then
          build at (builds.ofDerivation p)
        else if isStringLike p then
          string at "${p}" (stringOf w) (at: mapAttrs (_: stringOf) (others at))
        else
          node.set (mapAttrs (name: value: walk (at ++ [ name ]) value (w.${name} or missing)) p);

      list =
        at: p: w:
        let
          item = i: if isList w && i < length w then elemAt w i else missing;
        in
        node.list (genList (i: walk (at ++ [ i ]) (elemAt p i) (item i)) (length p));

      float =
        at: p:
        if fromJSON (toJSON p) == p then
          node.plain p
        else
          fail at "is a number with more digits than this Nix prints; write it as a string";

      other =
        at: p:
        let
          type = typeOf p;
        in
        if type == "float" then
          float at p
        else if type == "path" then
          node.plain (unsafeDiscardStringContext "${p}")
        else if type == "lambda" then
          fail at "is a function; give it its arguments"
        else
          node.plain p;

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

      walk =
        at: p: w:
        if ledger ? compare && differs p w then
          fail at "depends on an output in a way that Nix lost track of; compute it inside `derive`"
        else if isString p then
          string at p w others
        else if isAttrs p then
          attrs at p w
        else if isList p then
          list at p w
        else
          other at p;
    in
    walk;
in
{
  inherit missing walker;
}
