# The outputs ledger: what the executor has learned so far, and what an output is worth in the evaluation at hand.
let
  inherit (builtins)
    any
    attrNames
    attrValues
    elemAt
    fromJSON
    head
    isAttrs
    isInt
    isList
    length
    mapAttrs
    match
    readFile
    stringLength
    substring
    tail
    toJSON
    typeOf
    ;
  internal = import ./internal.nix;
  reference = import ./reference.nix;

  isUnknown = value: isAttrs value && value ? __unknown;
  isSecret = value: isAttrs value && value ? __sensitiveRef;

  # Is a part of this value still to come?
  hasUnknown =
    value:
    if isAttrs value then
      isUnknown value || any hasUnknown (attrValues value)
    else
      isList value && any hasUnknown value;

  hasSecret =
    value:
    if isAttrs value then
      isSecret value || any hasSecret (attrValues value)
    else
      isList value && any hasSecret value;

  # What `path` leads to inside of `value`; `ref` is for messages. Unknowns and secrets end the walk.
  follow =
    ref: value: path:
    let
      step = head path;
      has = if isInt step then isList value && step < length value else isAttrs value && value ? ${step};
      names = if isList value then "0 to ${toString (length value - 1)}" else internal._quoteAll (attrNames value);
      offer =
        if isAttrs value || isList value && value != [ ] then
          "; there is ${names}"
        else
          "; the value before it is ${internal._describe value}";
    in
    if path == [ ] || isUnknown value || isSecret value then
      value
    else if has then
      follow ref (if isInt step then elemAt value step else value.${step}) (tail path)
    else
      throw "nivis.ref: '${reference.show ref}' does not exist${offer}";

  # A value in which every secret throws `message` when it is looked at.
  guard =
    message: value:
    if isSecret value then
      throw message
    else if isAttrs value then
      mapAttrs (_: guard message) value
    else if isList value then
      map (guard message) value
    else
      value;

  isVariable = ref: ref.resource == reference.variables;
in
rec {
  # Whether a reference leads to a sensitive variable.
  inherit guard isVariable;

  # The ledger in a file, from its path; the empty ledger for null or "". `secrets` is the path of the file with the secret
  # outputs, in the evaluations that may know them.
  read =
    path: secrets:
    let
      isGiven = path: path != null && path != "";
      content = path: fromJSON (readFile path);
    in
    (if isGiven path then content path else { })
    // (if isGiven secrets then { secrets = (content secrets).outputs; } else { });

  # As `look`, where secrets may be seen.
  lookSecret =
    ledger: ref:
    let
      outputs = ledger.secrets.${ref.resource} or { };
      attribute = head ref.path;
      value = follow ref outputs.${attribute} (tail ref.path);
    in
    if !(outputs ? ${attribute}) then
      look ledger ref
    else if hasUnknown value then
      { state = "unknown"; }
    else
      {
        state = "known";
        inherit value;
      };

  # { state; value; } of an output: `known`, `secret` (known to the executor, but not here in full) or `unknown`.
  look =
    ledger: ref:
    let
      outputs = ledger.outputs.${ref.resource} or { };
      attribute = head ref.path;
      value = follow ref outputs.${attribute} (tail ref.path);
    in
    if isVariable ref then
      {
        state = "secret";
        value.__sensitiveRef = ref;
      }
    else if !(outputs ? ${attribute}) || hasUnknown value then
      { state = "unknown"; }
    else
      {
        state = if hasSecret value then "secret" else "known";
        inherit value;
      };

  # The text of a known output inside of a string, the same as the executor gives it.
  text =
    ref: value:
    let
      kind = typeOf value;
      json = toJSON value;
    in
    if kind == "string" then
      value
    else if kind == "bool" || kind == "int" then
      json
    else if kind == "float" && fromJSON json == value && match "[0-9.-]*" json != null then
      # Newer Nix says that 2.0 is a float.
      if match ".*[.]0" json != null then substring 0 (stringLength json - 2) json else json
    else if kind == "float" then
      throw "nivis.ref: '${reference.show ref}' has more digits than this Nix can print; use the reference alone instead of interpolating it"
    else
      throw "nivis.ref: '${reference.show ref}' is ${internal._describe value} and has no text form; compute the text inside `derive`";
}
