# What walking a configuration tree gives at each place: the value for the IR, and what was found on the way.
let
  inherit (builtins)
    all
    attrValues
    concatMap
    concatStringsSep
    intersectAttrs
    isInt
    map
    mapAttrs
    match
    ;
  reference = import ./reference.nix;

  markers = {
    __ref = null;
    __derived = null;
    __sensitiveRef = null;
    __build = null;
    __object = null;
  };

  pathText = at: concatStringsSep "." (map toString at);

  # "." keeps the steps apart if none of them has one, or looks like an index.
  isClear = step: isInt step || match "[^.]*[^.0-9][^.]*" step != null;
in
rec {
  inherit pathText;

  # A place in a tree is a list of steps. For the IR: joined by dots, or the steps if that is ambiguous.
  exactPath = at: if at != [ ] && all isClear at then pathText at else at;

  # `uses`: { at; refs; } for each place that depends on outputs. `notes`: { at; build; } and { at; sensitive; }.
  plain = value: {
    inherit value;
    uses = [ ];
    notes = [ ];
  };
  use = at: refs: node: node // { uses = [ { inherit at refs; } ] ++ node.uses; };
  note = notes: node: if notes == [ ] then node else node // { notes = notes ++ node.notes; };
  noteSensitive =
    at:
    note [
      {
        inherit at;
        sensitive = true;
      }
    ];
  noteBuilds =
    at: builds:
    note (
      map (build: {
        inherit at build;
      }) builds
    );

  # The leaf markers.
  ref = at: target: use at [ target ] (plain { __ref = target; });
  build = build: plain { __build = build; };
  derived =
    refs: more:
    plain {
      __derived = {
        inputs = map reference.show refs;
        inherit refs;
      }
      // more;
    };

  # Sets and lists of nodes. A set of the author's that looks like a marker is wrapped.
  set =
    nodes:
    let
      entries = attrValues nodes;
      values = mapAttrs (_: node: node.value) nodes;
    in
    {
      value = if intersectAttrs markers nodes == { } then values else { __object = values; };
      uses = concatMap (node: node.uses) entries;
      notes = concatMap (node: node.notes) entries;
    };
  list = nodes: {
    value = map (node: node.value) nodes;
    uses = concatMap (node: node.uses) nodes;
    notes = concatMap (node: node.notes) nodes;
  };
}
