# What a ledger says about an output, and what Nix makes of it.
let
  ledgers = import ../lib/ledger.nix;
  ledger.outputs.r = {
    id = "x";
    nothing = null;
    net = [
      { ip = "1.2.3.4"; }
      { ip.__unknown = true; }
    ];
    late.__unknown = true;
    login = {
      user = "joe";
      password.__sensitiveRef = {
        resource = "r";
        path = [
          "login"
          "password"
        ];
      };
    };
    mixed = [
      { __unknown = true; }
      { __sensitiveRef = { }; }
    ];
  };
  state =
    path:
    (ledgers.look ledger {
      resource = "r";
      inherit path;
    }).state;
  fails = value: !(builtins.tryEval (builtins.deepSeq value value)).success;
  found =
    path:
    (ledgers.look ledger {
      resource = "r";
      inherit path;
    }).value;

  # A derive of a derive equals the composed function, whatever stands between.
  results =
    let
      lib = import ../lib;
      ir = lib.toIR { outputs."p.t.a".size = 20; } (
        { n, ... }:
        let
          a = n.resource {
            provider = n.provider {
              id = "p";
              source = "builtin";
            };
            type = "t";
            name = "a";
          };
          half = n.derive { size = a.ref "size"; } ({ size }: size / 2);
        in
        {
          resources = [ a ];
          outputs = {
            once = half;
            composed = n.derive { inherit half; } ({ half }: half / 2);
            direct = n.derive (n.derive half (size: size / 2)) (size: size);
            list = n.derive [
              half
              { it = half; }
            ] (all: all);
            calls = n.derive { f = n.derive (a.ref "size") (size: add: size + add); } ({ f }: f 1);
          };
        }
      );
    in
    builtins.listToAttrs (
      map (consumer: {
        name = consumer.id;
        inherit (consumer) value;
      }) ir.nixConsumers
    );
in
{
  "look: known, in depth" = {
    expr = map state [
      [ "id" ]
      [ "nothing" ]
      [
        "net"
        0
        "ip"
      ]
      [
        "login"
        "user"
      ]
    ];
    expected = [
      "known"
      "known"
      "known"
      "known"
    ];
  };
  "look: unknown if the path leads to or holds an unknown, or is not there" = {
    expr = map state [
      [ "late" ]
      [
        "late"
        "below"
      ]
      [ "net" ]
      [
        "net"
        1
        "ip"
      ]
      [ "absent" ]
      [ "mixed" ]
    ];
    expected = [
      "unknown"
      "unknown"
      "unknown"
      "unknown"
      "unknown"
      "unknown"
    ];
  };
  "look: secret if the path leads to or holds a secret" = {
    expr = map state [
      [ "login" ]
      [
        "login"
        "password"
      ]
    ];
    expected = [
      "secret"
      "secret"
    ];
  };
  "look: another resource" = {
    expr =
      (ledgers.look { } {
        resource = "x";
        path = [ "id" ];
      }).state;
    expected = "unknown";
  };
  "look: a wrong index or name fails" = {
    expr = map fails [
      (state [
        "net"
        2
      ])
      (state [
        "id"
        "x"
      ])
      (state [
        "net"
        "ip"
      ])
    ];
    expected = [
      true
      true
      true
    ];
  };

  "guard: only the secret part fails" = {
    expr =
      let
        guarded = ledgers.guard "secret" (found [ "login" ]);
      in
      {
        inherit (guarded) user;
        password = fails guarded.password;
      };
    expected = {
      user = "joe";
      password = true;
    };
  };

  "text: as the executor writes it" = {
    expr = map (ledgers.text { }) [
      "a b"
      ""
      12
      (-3)
      0.5
      2.0
      true
      false
    ];
    expected = [
      "a b"
      ""
      "12"
      "-3"
      "0.5"
      "2"
      "true"
      "false"
    ];
  };

  "derive: composes" = {
    expr = results;
    expected = {
      "output.once" = 10;
      "output.composed" = 5;
      "output.direct" = 5;
      "output.list" = [
        10
        { it = 10; }
      ];
      "output.calls" = 21;
    };
  };
}
