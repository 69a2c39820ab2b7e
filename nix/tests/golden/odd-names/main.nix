# Names and keys of any characters, and sets of the author's that look like leaf markers.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "registry.example.org/x y/é";
      source = "builtin";
    };
    odd = n.resource {
      inherit provider;
      type = "t";
      name = "a.b \"c\" \${d} é!";
      config = {
        "a.b" = 1;
        "a b" = 2;
        "\"" = 3;
        "\${x}" = 4;
        "é" = 5;
        "" = 6;
        "0" = 7;
      };
    };
  in
  {
    resources = [
      odd
      (n.resource {
        inherit provider;
        type = "t";
        name = "user";
        config = {
          "x.y" = odd.ref "a.b";
          marker.__ref = "mine";
          two = {
            __ref = 1;
            __derived = odd.ref "id";
          };
          deep.__object.__build = [ "${odd.ref "id"}-${odd.ref [
              "tags"
              "k!"
            ]}" ];
          _type = "mine";
        };
      })
    ];
    outputs."a b".__sensitiveRef = 1;
  }
)
