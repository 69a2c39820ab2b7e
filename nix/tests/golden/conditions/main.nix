# Conditions before and after, of a result itself, of instances; checks of the stack.
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
    a = make "a" { };
    d = n.data {
      inherit provider;
      type = "t";
      name = "d";
      meta = {
        preconditions = [
          {
            condition = a.ref "up";
            message = "${a.ref "id"} is down";
          }
        ];
        postconditions = self: [
          {
            condition = n.derive (self.ref "zones") (zones: zones != [ ]);
            message = "no zone";
          }
        ];
      };
    };
    # A result can be named, too.
    b = make "b" {
      preconditions = [
        {
          condition = true;
          message = "never said";
        }
        {
          condition = n.derive { zones = d.ref "zones"; } ({ zones }: builtins.length zones > 1);
          message = n.derive (d.ref "zones") (zones: "only ${builtins.head zones}");
        }
      ];
      postconditions = [
        {
          condition = n.derive [ (b.ref "port") (a.ref "port") ] (
            ports: builtins.elemAt ports 0 != builtins.elemAt ports 1
          );
          message = "port ${b.ref "port"} is taken";
        }
      ];
    };
    instances = n.forEach [ "x" ] (
      key: _:
      make "c" {
        postconditions = self: [
          {
            condition = n.derive (self.ref "name") (name: name == key);
            message = "not ${key}";
          }
        ];
      }
    );
  in
  {
    resources = [
      a
      b
      instances
    ];
    data = [ d ];
    checks = {
      one = n.check {
        name = "reachable";
        condition = n.derive (a.ref "status") (status: status == 200);
        message = "${a.ref "id"} does not answer";
      };
      two = [
        (n.check {
          name = "always";
          condition = false;
          message = "told";
        })
      ];
    };
  }
)
