# Concatenation is left to the executor, whatever stands around a reference, and whatever the ledger knows.
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
    b = make "b" { };
    id = "${a.ref "id"}";
    ip = "${
      b.ref [
        "net"
        0
        "ip"
      ]
    }";
  in
  {
    resources = [
      a
      b
      (make "c" {
        alone = id;
        prefix = "web-" + id;
        two = "${id}/${ip}";
        twice = "${id}${id}";
        joined = builtins.concatStringsSep "," [
          "x"
          ip
          id
        ];
        replaced = builtins.replaceStrings [ "@HOST@" ] [ ip ] "http://@HOST@:80/";
        odd = "\"\\\n\${x} é 🦀 ${id} ],{\"__ref\":1}";
        nested.list = [ "l-${id}" ];
      })
    ];
    outputs.url = "https://${ip}/";
  }
)
