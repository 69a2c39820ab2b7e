# Evaluates one case of messages/: a function that gets `n`, a `provider`, `make <name> <config>` for a resource of it, and
# the resource `a`, and gives either `{ stack; ledger ? { }; }` or `{ value; }`.
{ file }:
let
  lib = import ../lib;
  case = import file;

  around =
    n:
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
    in
    {
      inherit
        n
        lib
        provider
        make
        ;
      a = make "a" { };
    };

  stack = { n, ... }: (case (around n)).stack;
  # Outside of a stack there is no `n`; what a case says there does not use it.
  outside = case (around { });
in
if outside ? value then outside.value else lib.toIR (outside.ledger or { }) stack
