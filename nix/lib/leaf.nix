# From the tree an author wrote to the tree in the IR: plain data and leaf markers.
#
# A tree is walked in three versions at once (README.md, "References"): `p` with placeholders, which decides its shape, and,
# only where a string needs them, `w` with witnesses and `l` with what the ledger knows.
let
  inherit (builtins)
    elemAt
    fromJSON
    genList
    isAttrs
    isList
    length
    mapAttrs
    toJSON
    typeOf
    unsafeDiscardStringContext
    ;
  internal = import ./internal.nix;
  builds = import ./build.nix;
  node = import ./node.nix;
  strings = import ./string.nix;

  # Stands where a version of the tree has no counterpart.
  missing = {
    _type = "nivis.missing";
  };

  # Sets that Nix turns into strings, as `toJSON` does too.
  isStringLike = value: isAttrs value && (value ? __toString || value ? outPath);
  stringOf = value: if isStringLike value then "${value}" else value;

  # `where at` names a place for messages.
  walker =
    {
      ledger,
      where,
      notesBuilds,
    }:
    let
      fail = at: problem: throw "nivis.plan: ${where at} ${problem}";

      string = strings { inherit ledger fail notesBuilds; };

      derive =
        at: p: w: l:
        let
          result = walk at p.result (w.result or missing) (l.result or missing);
          pending = node.derived p.refs (if p.sensitive then { sensitive = true; } else { });
          leaf = node.use at p.refs (if p.known then result else pending);
        in
        if p.sensitive then node.noteSensitive at leaf else leaf;

      # A whole resource in place of one of its outputs.
      whole = at: p: fail at "is '${p.id}' as a whole; use one of its outputs, such as `x.ref \"id\"`";

      kinds = {
        inherit derive;
        ref =
          at: p: _: _:
          node.ref at p.__ref;
        drv =
          _: p: _: _:
          node.build p.build;
        sensitive =
          at: p: w: l:
          node.noteSensitive at (walk at p.value (w.value or missing) (l.value or missing));
        resource = whole;
        data = whole;
        provider = at: _: fail at "is a provider; it belongs under `provider` of a resource";
      };

      attrs =
        at: p: w: l:
        let
          kind = internal._kind p;
        in
        if kind != null then
          kinds.${kind} at p w l
        else if builds.isDerivation p then
          node.build (builds.ofDerivation p)
        else if isStringLike p then
          string at "${p}" (stringOf w) (stringOf l)
        else
          node.set (
            mapAttrs (name: value: walk (at ++ [ name ]) value (w.${name} or missing) (l.${name} or missing)) p
          );

      list =
        at: p: w: l:
        let
          item = tree: i: if isList tree && i < length tree then elemAt tree i else missing;
        in
        node.list (genList (i: walk (at ++ [ i ]) (elemAt p i) (item w i) (item l i)) (length p));

      float =
        at: p: _: _:
        if fromJSON (toJSON p) == p then
          node.plain p
        else
          fail at "is a number with more digits than this Nix prints; write it as a string";

      scalar =
        _: p: _: _:
        node.plain p;

      byType = {
        inherit string list float;
        set = attrs;
        path =
          _: p: _: _:
          node.plain (unsafeDiscardStringContext "${p}");
        lambda = at: _: fail at "is a function; give it its arguments";
        int = scalar;
        bool = scalar;
        null = scalar;
      };

      walk = at: p: byType.${typeOf p} at p;
    in
    walk;
in
{
  inherit missing walker;
}
