# Evaluates all cases: `nix-instantiate --eval run.nix` gives the number that passed, or throws with what differs.
let
  # A collection that lost its files must not pass.
  atLeast = 33;

  files = import ./.;
  cases = builtins.concatMap (
    file:
    map (name: {
      name = "${file}: ${name}";
      inherit (files.${file}.${name}) expr expected;
    }) (builtins.attrNames files.${file})
  ) (builtins.attrNames files);
  failed = builtins.filter (case: case.expr != case.expected) cases;
  describe = case: "${case.name}\n  got      ${builtins.toJSON case.expr}\n  expected ${builtins.toJSON case.expected}";
  count = builtins.length cases;
in
if failed != [ ] then
  throw "${toString (builtins.length failed)} of ${toString count} cases differ:\n${
    builtins.concatStringsSep "\n" (map describe failed)
  }"
else if count < atLeast then
  throw "only ${toString count} cases were found, expected at least ${toString atLeast}"
else
  count
