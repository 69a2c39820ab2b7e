# The document that stack.nix gives, written down as plain attribute sets.
{ count, everywhere }:
let
  ref = name: {
    resource = "p.t.base";
    path = [ name ];
  };
  refs = [
    (ref "id")
    (ref "name")
  ];
  two = word: i: {
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
  one = word: name: i: {
    __derived = {
      inputs = [ "p.t.base.${name}" ];
      refs = [ (ref name) ];
      template = [
        "${word}-"
        { __ref = ref name; }
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
  attributes =
    i:
    if everywhere then
      {
        a = two "one" i;
        b = two "two" i;
        c = two "three" i;
        d = two "four" i;
        e = two "five" i;
      }
    else
      {
        a = one "one" "id" i;
        b = one "two" "name" i;
        c = "three-${toString i}";
        d = i;
        e = true;
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
  interpolating =
    [
      "a"
      "b"
    ]
    ++ (
      if everywhere then
        [
          "c"
          "d"
          "e"
        ]
      else
        [ ]
    );
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
    i: map (edge i) (interpolating ++ (if i == 0 then [ "f" ] else [ ]))
  ) indices;
  nixConsumers = [ ];
}
