# derive: any computation, inputs of any shape, results of any shape.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    make =
      name: config:
      n.resource {
        type = "t";
        inherit provider name config;
      };
    a = make "a" { };
    image =
      name:
      derivation {
        inherit name;
        system = "x86_64-linux";
        builder = "/bin/sh";
      };
    doubled = n.derive { size = a.ref "size"; } ({ size }: size * 2);
  in
  {
    resources = [
      a
      (make "b" {
        mode = n.derive { size = a.ref "size"; } ({ size }: if size > 3 then "0600" else "0644");
        alone = n.derive (a.ref "id") (id: "<${id}>");
        shaped =
          n.derive
            {
              list = [
                (a.ref "id")
                (a.ref "size")
              ];
              set.of.sets = a.ref [
                "tags"
                "env"
              ];
            }
            (
              { list, set }:
              {
                inherit list;
                env = set.of.sets;
              }
            );
        composed = n.derive { inherit doubled; } ({ doubled }: doubled + 1);
        choice = n.derive { size = a.ref "size"; } (
          { size }: if size > 3 then a.ref "large" else a.ref "small"
        );
        chosen = n.derive {
          it = n.derive { size = a.ref "size"; } ({ size }: if size > 3 then a.ref "large" else a.ref "small");
        } ({ it }: "${it}!");
        leaves = n.derive { id = a.ref "id"; } (
          { id }: {
            plain = id;
            text = "${id} of ${a.ref "owner"}";
            again = n.derive { size = a.ref "size"; } ({ size }: size + 1);
            build = image "disk-${builtins.substring 0 1 id}";
            file = n.drvFile (image "disk") "nixos.img";
          }
        );
        later = n.derive {
          id = a.ref "id";
          late = a.ref "late";
        } (_: throw "not to be computed");
      })
    ];
    outputs.next = n.derive doubled (size: size + 1);
  }
)
