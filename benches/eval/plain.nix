# The document that stack.nix gives, written down as plain attribute sets.
{ count }:
let
  ref = name: {
    resource = "p.t.base";
    path = [ name ];
  };
  refs = [
    (ref "id")
    (ref "name")
  ];
  leaf = word: i: {
    __derived = {
      inputs = [
        "p.t.base.id"
        "p.t.base.name"
      ];
      inherit refs;
      template = [
        "${word}-"
        { __ref = ref "id"; }
        "-"
        { __ref = ref "name"; }
        "-${toString i}"
      ];
    };
  };
  resource = name: config: {
    id = "p.t.${name}";
    provider = "p";
    type = "t";
    inherit name config;
    meta = {
      dependsOn = [ ];
      lifecycle = {
        preventDestroy = false;
        ignoreChanges = [ ];
      };
    };
  };
  attributes = i: {
    a = leaf "one" i;
    b = leaf "two" i;
    c = leaf "three" i;
    d = leaf "four" i;
    e = leaf "five" i;
  };
  computed.f.__derived = {
    inputs = [ "p.t.base.id" ];
    refs = [ (ref "id") ];
  };
  indices = builtins.genList (i: i) count;
  edge = i: via: {
    from = "p.t.base";
    to = "p.t.r${toString i}";
    inherit via;
  };
in
{
  schemaVersion = 1;
  providers.p = {
    source = "builtin";
    config = { };
  };
  resources =
    [ (resource "base" { }) ]
    ++ map (i: resource "r${toString i}" (attributes i // (if i == 0 then computed else { }))) indices;
  edges = builtins.concatMap (
    i:
    map (edge i) (
      [
        "a"
        "b"
        "c"
        "d"
        "e"
      ]
      ++ (if i == 0 then [ "f" ] else [ ])
    )
  ) indices;
  nixConsumers = [ ];
}
