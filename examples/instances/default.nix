# Many of a kind: one file per member of a set, a number of secrets, and what depends on all of them.
#
#   nivis apply --file examples/instances
(import ../../nix/lib).plan (
  { n, ... }:
  let
    builtin = n.provider {
      id = "builtin";
      source = "builtin";
    };

    rooms = {
      kitchen.colour = "blue";
      attic.colour = "red";
    };

    sign = n.forEach rooms (
      room:
      { colour }:
      n.resource {
        provider = builtin;
        type = "builtin_file";
        name = "sign";
        config = {
          filename = "./nivis-demo/${room}.txt";
          content = "The ${room} is ${colour}.\n";
        };
      }
    );

    key = n.count 2 (
      index:
      n.resource {
        provider = builtin;
        type = "builtin_random";
        name = "key";
        config = {
          kind = "secret";
          length = 20;
          keepers.number = toString index;
        };
      }
    );

    index = n.resource {
      provider = builtin;
      type = "builtin_file";
      name = "index";
      config = {
        filename = "./nivis-demo/index.txt";
        content = builtins.concatStringsSep "\n" (
          builtins.attrValues (builtins.mapAttrs (room: file: "${room}: ${file.ref "sha256"}") sign)
        );
      };
      # Nothing of the keys is used; they only have to be there first.
      meta.dependsOn = key;
    };
  in
  {
    resources = {
      inherit sign key index;
    };
    outputs = {
      files = builtins.mapAttrs (_: file: file.ref "id") sign;
      first-key = {
        value = (builtins.head key).ref "secret";
        sensitive = true;
        description = "The key of the front door.";
      };
    };
  }
)
