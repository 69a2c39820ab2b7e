# Three hops, of which the ledger knows the first.
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
    next = from: n.derive { value = from.ref "value"; } ({ value }: value + 1);
    a = make "a" { value = 1; };
    b = make "b" { value = next a; };
    c = make "c" { value = next b; };
  in
  {
    resources = {
      inherit a b c;
    };
    outputs.end = next c;
  }
)
