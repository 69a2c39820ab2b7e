# What Nix does to a string beyond concatenation waits for its inputs, and is then exact.
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
    id = "${a.ref "id"}";
    dash = builtins.replaceStrings [ "." ] [ "-" ];
  in
  {
    resources = [
      a
      (make "b" {
        json = builtins.toJSON {
          host = id;
          port = "${a.ref "port"}";
        };
        # toJSON takes references as they are, too.
        direct = builtins.toJSON [ (a.ref "id") ];
        cut = builtins.substring 0 4 id;
        dashed = "www.${dash id}";
        escaped = "'${builtins.replaceStrings [ "'" ] [ "'\\''" ] id}'";
        scalars = dash "${a.ref "port"} ${a.ref "up"} ${a.ref "load"}";
        # One of its inputs is not there yet, one only in part.
        later = dash "${a.ref "id"}${a.ref "missing"}";
        partly = dash "${
          a.ref [
            "net"
            "late"
          ]
        }";
        there = dash "${
          a.ref [
            "net"
            "soon"
          ]
        }";
      })
    ];
    outputs.short = builtins.substring 0 3 id;
  }
)
