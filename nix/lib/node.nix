# What walking a configuration tree gives at each place: the value for the IR, and what was found on the way.
let
  inherit (builtins)
    all
    catAttrs
    concatLists
    concatStringsSep
    head
    intersectAttrs
    isInt
    length
    listToAttrs
    map
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

  # Most places are attributes at the top.
  pathText =
    at: if length at == 1 then toString (head at) else concatStringsSep "." (map toString at);

  # "." keeps the steps apart if none of them has one, or looks like an index.
  isClear = step: isInt step || match "[^.]*[^.0-9][^.]*" step != null;
in
rec {
  inherit pathText;

  # A place in a tree is a list of steps. For the IR: joined by dots, or the steps if that is ambiguous.
  exactPath = at: if at != [ ] && all isClear at then pathText at else at;

  # A node is { value; edges ? [ ]; notes ? [ ]; }. `edges`: the edges of the IR that lead here. `notes`: { at; build; } and
  # { at; sensitive; }. Most nodes have neither.
  plain = value: { inherit value; };
  note = notes: node: if notes == [ ] then node else node // { notes = notes ++ node.notes or [ ]; };
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
  ref = edges: marker: target: {
    value.${marker} = target;
    inherit edges;
  };
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

  # Sets, from nodes with their `name`, and lists of nodes. A set of the author's that looks like a marker is wrapped: `given`
  # is the set as it was.
  set =
    given: nodes:
    let
      values = listToAttrs nodes;
    in
    {
      value = if intersectAttrs markers given == { } then values else { __object = values; };
      edges = concatLists (catAttrs "edges" nodes);
      notes = concatLists (catAttrs "notes" nodes);
    };
  list = nodes: {
    value = catAttrs "value" nodes;
    edges = concatLists (catAttrs "edges" nodes);
    notes = concatLists (catAttrs "notes" nodes);
  };
}
