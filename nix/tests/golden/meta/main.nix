# dependsOn and lifecycle, by value and by id.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    make =
      name: meta:
      n.resource {
        type = "t";
        inherit provider name meta;
      };
    a = make "a" { lifecycle.preventDestroy = true; };
    b = make "b" {
      dependsOn = [
        a
        "p.t.a"
        "data.p.t.d"
      ];
      lifecycle.ignoreChanges = [ "*" ];
    };
    d = n.data {
      inherit provider;
      type = "t";
      name = "d";
      meta.dependsOn = [ a ];
    };
  in
  {
    resources = [
      a
      b
      (make "c" {
        lifecycle = {
          createBeforeDestroy = true;
          ignoreChanges = [
            "tags.env"
            [
              "list"
              0
              "a.b"
            ]
          ];
          replaceTriggeredBy = [
            a
            "p.t.b"
            (b.ref "id")
          ];
        };
      })
    ];
    data = { inherit d; };
  }
)
