# The library's own working parts.
let
  internal = import ../lib/internal.nix;
  reference = import ../lib/reference.nix;
  node = import ../lib/node.nix;
  lib = import ../lib;

  # A stack of one resource with the config that `f` makes from `n` and another resource `a`.
  configOf =
    ledger: f:
    let
      ir = lib.toIR ledger (
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
        in
        {
          resources = [
            a
            (make "b" (f n a))
          ];
        }
      );
    in
    (builtins.elemAt ir.resources 1).config;

  # Is the leaf that `f` makes from the text of a reference a template?
  isTemplate = f: (configOf { } (_: a: { x = f "${a.ref "id"}"; })).x.__derived ? template;

  nameOf =
    key:
    (builtins.head
      (lib.toIR { } (
        { n, ... }:
        {
          resources = n.forEach [ key ] (
            _: _:
            n.resource {
              provider = n.provider {
                id = "p";
                source = "builtin";
              };
              type = "t";
              name = "web";
            }
          );
        }
      )).resources
    ).name;
in
{
  "distance: equal" = {
    expr = internal._distance "config" "config";
    expected = 0;
  };
  "distance: insert, delete, replace" = {
    expr = map (internal._distance "config") [
      "confg"
      "configs"
      "convig"
      ""
    ];
    expected = [
      1
      1
      1
      6
    ];
  };
  "nearest: best first, far ones left out" = {
    expr = internal._nearest "resorces" [
      "resource"
      "outputs"
      "resources"
    ];
    expected = [
      "resources"
      "resource"
    ];
  };
  "flatten: nested, in order" = {
    expr = internal._flatten builtins.isInt [
      1
      {
        b = 3;
        a = [ 2 ];
      }
      [ ]
      [ [ 4 ] ]
    ];
    expected = [
      1
      2
      3
      4
    ];
  };
  "uniqueBy: the first of equals stays in its place" = {
    expr = internal._uniqueBy (x: x.k) [
      {
        k = "b";
        v = 1;
      }
      {
        k = "a";
        v = 2;
      }
      {
        k = "b";
        v = 3;
      }
    ];
    expected = [
      {
        k = "b";
        v = 1;
      }
      {
        k = "a";
        v = 2;
      }
    ];
  };

  "exactPath: dots where they are clear" = {
    expr = map node.exactPath [
      [
        "a"
        0
        "b"
      ]
      [ "a.b" ]
      [
        "a"
        "0"
      ]
      [ "" ]
      [ ]
    ];
    expected = [
      "a.0.b"
      [ "a.b" ]
      [
        "a"
        "0"
      ]
      [ "" ]
      [ ]
    ];
  };

  "forEach: odd keys become names of their own" = {
    expr = map nameOf [
      "a"
      "A-z_9"
      "a.b"
      "a b"
      "_a"
      "__a"
      "a__b"
      "a___b"
      "a%b"
      "\n"
      "é"
      "\${x}\""
      ""
    ];
    expected = [
      "web__a"
      "web__A-z_9"
      "web__a%2Eb"
      "web__a%20b"
      "web__%5Fa"
      "web__%5F_a"
      "web__a_%5Fb"
      "web__a_%5F_b"
      "web__a%25b"
      "web__%0A"
      "web__é"
      "web__%24%7Bx%7D%22"
      "web__"
    ];
  };

  "template: concatenation in all its forms" = {
    expr = map isTemplate [
      (id: id)
      (id: "a${id}b${id}")
      (id: "a" + id)
      (id: builtins.concatStringsSep "," [ id id ])
      (id: builtins.replaceStrings [ "HOST" ] [ id ] "http://HOST/")
      (id: builtins.substring 0 1000000 id)
    ];
    expected = [
      true
      true
      true
      true
      true
      true
    ];
  };
  "template: not when a string function did more" = {
    expr = map isTemplate [
      (id: builtins.toJSON id)
      (id: builtins.toJSON { k = id; })
      (id: builtins.substring 0 5 id)
      (id: builtins.substring 1 (-1) id)
      (id: builtins.replaceStrings [ "a" ] [ "b" ] id)
      (id: builtins.replaceStrings [ "Z" ] [ "z" ] id)
      (id: builtins.replaceStrings [ "." ] [ "-" ] "x${id}")
      (id: builtins.replaceStrings [ "\n" ] [ "" ] id)
      (id: builtins.replaceStrings [ " " ] [ "" ] id)
      (id: builtins.replaceStrings [ "'" ] [ "'\\''" ] id)
      (id: builtins.replaceStrings [ "$" ] [ "\\$" ] id)
      (id: builtins.replaceStrings [ "//" ] [ "/" ] id)
      (id: builtins.replaceStrings [ "é" ] [ "e" ] id)
    ];
    expected = builtins.genList (_: false) 13;
  };

  "template: surroundings survive" = {
    expr =
      (configOf { } (
        _: a: {
          x = "\"\\\n\t\${é}${a.ref "id"}],{\"__ref\":1}";
        }
      )).x.__derived.template;
    expected = [
      "\"\\\n\t\${é}"
      {
        __ref = {
          resource = "p.t.a";
          path = [ "id" ];
        };
      }
      "],{\"__ref\":1}"
    ];
  };

  "reference: odd ids and paths survive their placeholder" = {
    expr =
      (configOf { } (
        _: a: {
          x = "${
            a.ref [
              "é \"q\" \\ ! \${x}"
              0
              "a.b"
              ""
            ]
          }!";
        }
      )).x.__derived.template;
    expected = [
      {
        __ref = {
          resource = "p.t.a";
          path = [
            "é \"q\" \\ ! \${x}"
            0
            "a.b"
            ""
          ];
        };
      }
      "!"
    ];
  };

  "fragment: any cut of a placeholder is recognised" = {
    expr =
      let
        text = builtins.unsafeDiscardStringContext (
          toString (reference.make reference.placeholder "prov.type.name" "id")
        );
        # Three whole characters, wherever they start.
        cuts = builtins.genList (i: builtins.substring (i * 4) 12 text) 4;
      in
      map reference.hasFragment ([ text ] ++ cuts ++ [ "plain text" ]);
    expected = [
      true
      true
      true
      true
      true
      false
    ];
  };

  "reference: two of one output in a string are one input" = {
    expr =
      (configOf { } (
        _: a: {
          x = "${a.ref "id"}${a.ref "id"}";
        }
      )).x.__derived.inputs;
    expected = [ "p.t.a.id" ];
  };
  "reference: two that read the same are two inputs" = {
    expr =
      map (leaf: map (ref: ref.path) leaf.__derived.refs)
        (builtins.attrValues (
          configOf { } (
            n: a:
            let
              nested = a.ref [
                "x"
                "y"
              ];
              dotted = a.ref "x.y";
            in
            {
              derived = n.derive [ nested dotted nested ] (all: all);
              text = "${nested}${dotted}${nested}";
            }
          )
        ));
    expected = builtins.genList (_: [
      [
        "x"
        "y"
      ]
      [ "x.y" ]
    ]) 2;
  };
}
