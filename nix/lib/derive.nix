# `derive`: a value that Nix computes from outputs once they are known.
let
  inherit (builtins)
    all
    any
    concatLists
    genList
    elemAt
    hasContext
    isAttrs
    isFunction
    isList
    isString
    length
    map
    mapAttrs
    attrValues
    ;
  internal = import ./internal.nix;
  reference = import ./reference.nix;
  ledgers = import ./ledger.nix;

  # Inputs, read one by one. A "read" is { refs; known; secret; value; }:
  # the references behind it, whether all of them are known, whether a secret is among them, and the value if known.
  readRef =
    context: ref:
    let
      found = (if context.sensitive then ledgers.lookSecret else ledgers.look) context.ledger ref.__ref;
    in
    {
      refs = [ ref.__ref ];
      known = found.state != "unknown";
      secret = found.state == "secret";
      tainted = false;
      value = if found.state == "secret" then ledgers.guard context.message found.value else found.value;
    };

  # An inner derive stands for its result. If that is again a reference or a derive, for what this leads to.
  readDerive =
    context: inner:
    let
      kind = internal._kind inner.result;
      next = (if kind == "ref" then readRef else readDerive) context inner.result;
      leads = inner.known && (kind == "ref" || kind == "derive");
    in
    {
      refs = inner.refs ++ (if leads then next.refs else [ ]);
      known = inner.known && (!leads || next.known);
      secret = leads && next.secret;
      tainted = inner.sensitive || (leads && next.tainted);
      value = if leads then next.value else inner.result;
    };

  combine = value: reads: {
    refs = concatLists (map (read: read.refs) reads);
    known = all (read: read.known) reads;
    secret = any (read: read.secret) reads;
    tainted = any (read: read.tainted) reads;
    inherit value;
  };

  readInput =
    context: at: input:
    let
      kind = internal._kind input;
      below = step: if at == "" then step else "${at}.${step}";
      again = step: readInput context (below step);
      attrs = mapAttrs again input;
      list = genList (i: again (toString i) (elemAt input i)) (length input);
      name = if at == "" then "the input" else "input '${at}'";
    in
    if kind == "ref" then
      readRef context input
    else if kind == "derive" then
      readDerive context input
    else if isAttrs input && kind == null && (input.type or null) != "derivation" then
      combine (mapAttrs (_: read: read.value) attrs) (attrValues attrs)
    else if isList input then
      combine (map (read: read.value) list) list
    else if isString input && hasContext input then
      throw "nivis.${context.function}: ${name} is an interpolated string; pass the reference itself and build the string inside the function"
    else
      throw "nivis.${context.function}: ${name} is ${internal._describe input}, not a reference; use it inside the function directly";
in
{
  # Outputs that the derive's leaf waits for are in `refs`; `result` is there once `known`.
  make =
    ledger: function: inputs: compute:
    let
      message = "nivis.${function}: a secret is used; its inputs are ${
        internal._quoteAll (map reference.show read.refs)
      }; use `deriveSensitive`";
      sensitive = function == "deriveSensitive";
      context = {
        inherit
          ledger
          function
          message
          sensitive
          ;
      };
      read = readInput context "" inputs;
    in
    if !(isFunction compute || (isAttrs compute && compute ? __functor)) then
      throw "nivis.${function}: the second argument is ${internal._describe compute}; give a function of the inputs' values"
    else
      {
        _type = "nivis.derive";
        refs = internal._uniqueBy builtins.toJSON read.refs;
        # Over a secret it is computed only where secrets are at hand.
        known =
          if read.tainted && !sensitive then
            throw "nivis.derive: an input is the result of `deriveSensitive`; use `deriveSensitive` here too"
          else
            read.known && !(sensitive && read.secret);
        inherit sensitive;
        result = compute read.value;
        __toString =
          _:
          throw "nivis.${function}: a derive cannot be interpolated; build the whole string inside the function";
      };
}
