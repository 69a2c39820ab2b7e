# The document as a whole: what stays the same, what scales, what `plan` takes.
let
  lib = import ../lib;

  stack =
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
        (make "b" {
          ref = a.ref "id";
          text = "x-${a.ref "id"}";
          json = builtins.toJSON "${a.ref "id"}";
          derived = n.derive (a.ref "id") (id: id);
        })
      ];
    };
  first = lib.toIR { } stack;
  second = lib.toIR { outputs."p.t.a".id = "known"; } stack;
  configOf = ir: (builtins.elemAt ir.resources 1).config;

  # `size` resources, each of which uses the one before.
  chain =
    size:
    lib.toIR { } (
      { n, ... }:
      let
        provider = n.provider {
          id = "p";
          source = "builtin";
        };
        make =
          i:
          n.resource {
            inherit provider;
            type = "t";
            name = "r${toString i}";
            config =
              if i == 0 then
                { }
              else
                {
                  ref = (builtins.elemAt all (i - 1)).ref "id";
                  text = "x-${(builtins.elemAt all (i - 1)).ref "id"}";
                };
          };
        all = builtins.genList make size;
      in
      {
        resources = all;
      }
    );

  outputsOf =
    outputs:
    (lib.toIR { } (
      { n, ... }:
      {
        outputs = outputs n;
      }
    )).nixConsumers;
in
{
  "references and templates do not change with the ledger" = {
    expr = {
      inherit (configOf second) ref text;
    };
    expected = {
      inherit (configOf first) ref text;
    };
  };
  "what Nix computes does" = {
    expr = {
      inherit (configOf second) json derived;
    };
    expected = {
      json = "\"known\"";
      derived = "known";
    };
  };
  "edges do not" = {
    expr = second.edges;
    expected = first.edges;
  };
  "one edge per place" = {
    expr = map (edge: edge.via) first.edges;
    expected = [
      "derived"
      "json"
      "ref"
      "text"
    ];
  };

  "thousands of resources in a chain need no deep stack" = {
    expr =
      let
        ir = chain 5000;
      in
      builtins.deepSeq ir {
        resources = builtins.length ir.resources;
        edges = builtins.length ir.edges;
      };
    expected = {
      resources = 5000;
      edges = 9998;
    };
  };

  "plan: no ledger is null or the empty string" = {
    expr = [
      (lib.plan stack { })
      (lib.plan stack { ledger = null; })
      (lib.plan stack {
        ledger = "";
        more = "is ignored";
      })
    ];
    expected = [
      first
      first
      first
    ];
  };
  "plan: the ledger is read from its path" = {
    expr = (configOf (lib.plan stack { ledger = toString ./golden/templates/ledger.json; })).derived;
    expected = "known";
  };
  "plan: tells which arguments it takes" = {
    expr = builtins.functionArgs (lib.plan stack);
    expected = {
      ledger = true;
      secrets = true;
    };
  };
  "plan: the values of variables come with the ledger" = {
    expr =
      (lib.toIR { vars.region.value = "eu"; } (
        { vars, ... }:
        {
          variables.region = { };
          outputs.region = vars.region;
        }
      )).nixConsumers;
    expected = [
      {
        id = "output.region";
        value = "eu";
      }
    ];
  };

  "outputs: a value, or a value with what to know about it" = {
    expr = outputsOf (_: {
      a = {
        value = 1;
        description = "One.";
      };
      b = {
        value = 1;
        other = 2;
      };
      c.value = 1;
      d = {
        value = 1;
        sensitive = false;
      };
    });
    expected = [
      {
        id = "output.a";
        value = 1;
        description = "One.";
      }
      {
        id = "output.b";
        value = {
          value = 1;
          other = 2;
        };
      }
      {
        id = "output.c";
        value = 1;
      }
      {
        id = "output.d";
        value = 1;
      }
    ];
  };

  "providers: one value, any number of times" = {
    expr = builtins.attrNames (chain 3).providers;
    expected = [ "p" ];
  };
}
