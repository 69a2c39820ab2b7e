# A stack of many resources with five attributes each; one more attribute of the first resource is computed by Nix.
# `everywhere` says where outputs are interpolated: two of them in each attribute, or one in each of two attributes.
{ count, everywhere }:
let
  lib = import ../../nix/lib;
in
lib.plan (
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
    base = make "base" { };
    two = word: i: "${word}-${base.ref "id"}-${base.ref "name"}-${toString i}";
    attributes =
      i:
      if everywhere then
        {
          a = two "one" i;
          b = two "two" i;
          c = two "three" i;
          d = two "four" i;
          e = two "five" i;
        }
      else
        {
          a = "one-${base.ref "id"}-${toString i}";
          b = "two-${base.ref "name"}-${toString i}";
          c = "three-${toString i}";
          d = i;
          e = true;
        };
    computed.f = n.derive (base.ref "id") (id: "computed from ${id}");
  in
  {
    resources = [
      base
    ]
    ++ builtins.genList (i: make "r${toString i}" (attributes i // (if i == 0 then computed else { }))) count;
  }
)
