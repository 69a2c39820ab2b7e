# Variables: what a stack takes from outside. A declaration says what fits, the ledger's `vars` what was given.
#
# A sensitive variable is a reference to the executor's own object `var`: Nix checks the value and passes on no more than that.
let
  inherit (builtins)
    all
    attrNames
    concatMap
    elem
    elemAt
    filter
    fromJSON
    genList
    head
    isAttrs
    isBool
    isFunction
    isInt
    isList
    isString
    length
    listToAttrs
    map
    mapAttrs
    match
    seq
    toJSON
    typeOf
    ;
  internal = import ./internal.nix;
  reference = import ./reference.nix;

  names = [
    "type"
    "default"
    "description"
    "validation"
    "sensitive"
    "nullable"
  ];
  checkDeclaration =
    name:
    internal._checkArgs {
      function = "plan";
      noun = "attribute";
      of = _: " of variable '${name}'";
      allowed = names;
    };

  primitives = [
    "string"
    "number"
    "bool"
    "any"
    "dynamic"
  ];
  collections = [
    "list"
    "set"
    "map"
  ];

  # The JSON form of a type (docs/IR-CONTRACT.md, "Variables"), checked.
  checkType =
    name: type:
    let
      kind = head type;
      argument = elemAt type 1;
      again = checkType name;
    in
    if type == "any" then
      "dynamic"
    else if elem type primitives then
      type
    else if !(isList type) || length type < 2 || !(isString kind) then
      throw "nivis.plan: 'type' of variable '${name}' is ${
        if isString type then "\"${type}\"" else internal._describe type
      }; write \"string\", \"number\", \"bool\", \"any\", [ \"list\" T ], [ \"set\" T ], [ \"map\" T ], [ \"tuple\" [ T … ] ] or [ \"object\" { name = T; } [ optional names ] ]"
    else if elem kind collections && length type == 2 then
      [
        kind
        (again argument)
      ]
    else if kind == "tuple" && isList argument && length type == 2 then
      [
        kind
        (map again argument)
      ]
    else if kind == "object" && isAttrs argument && length type == 2 then
      [
        kind
        (mapAttrs (_: again) argument)
      ]
    else if kind == "object" && isAttrs argument && length type == 3 && isList (elemAt type 2) then
      [
        kind
        (mapAttrs (_: again) argument)
        (elemAt type 2)
      ]
    else
      throw "nivis.plan: 'type' of variable '${name}' has a '${kind}' that is none; write [ \"list\" T ], [ \"set\" T ], [ \"map\" T ], [ \"tuple\" [ T … ] ] or [ \"object\" { name = T; } [ optional names ] ]";

  words = {
    string = "a string";
    number = "a number";
    bool = "true or false";
    list = "a list";
    set = "a list";
    map = "an attribute set";
    tuple = "a list";
    object = "an attribute set";
  };
  # What a value is, never the value itself: it may be a secret.
  describe =
    value:
    {
      int = "a number";
      float = "a number";
      bool = "a boolean";
      set = "an attribute set";
      null = "null";
      list = "a list of ${toString (length value)}";
    }
    .${typeOf value} or "a ${typeOf value}";

  exactFloat = value: fromJSON (toJSON value) == value;

  bools = {
    "true" = true;
    "1" = true;
    "false" = false;
    "0" = false;
  };

  unique = internal._uniqueBy toJSON;

  # `value` as `type`, by the rules of providers' own languages: text and numbers, text and booleans become each other where
  # they read the same.
  convert =
    where: type: value:
    let
      kind = if isList type then head type else type;
      argument = elemAt type 1;
      wrong = throw "nivis.plan: ${where} must be ${words.${kind}}, got ${describe value}";
      items = genList (i: convert "element ${toString i} of ${where}" argument (elemAt value i)) (length value);
    in
    if value == null || kind == "dynamic" then
      value
    else if kind == "string" then
      if isString value then
        value
      else if isBool value || isInt value || (typeOf value == "float" && exactFloat value) then
        toJSON value
      else
        wrong
    else if kind == "number" then
      if isInt value || typeOf value == "float" then
        value
      else if !(isString value) || match "-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?" value == null then
        wrong
      else if match "-?[0-9]{1,18}|-?[0-9]+[.][0-9]+" value != null && toJSON (fromJSON value) == value then
        fromJSON value
      else
        throw "nivis.plan: ${where} is a number with more digits than Nix keeps; declare it as \"string\", which providers accept for a number"
    else if kind == "bool" then
      if isBool value then
        value
      else if isString value && bools ? ${value} then
        bools.${value}
      else
        wrong
    else if kind == "list" || kind == "set" then
      if !(isList value) then
        wrong
      else if kind == "set" then
        unique items
      else
        items
    else if kind == "tuple" then
      if isList value && length value == length argument then
        genList (i: convert "element ${toString i} of ${where}" (elemAt argument i) (elemAt value i)) (length value)
      else
        throw "nivis.plan: ${where} must be a list of ${toString (length argument)}, got ${describe value}"
    else if !(isAttrs value) then
      wrong
    else if kind == "map" then
      mapAttrs (key: convert "'${key}' of ${where}" argument) value
    else
      object where argument (if length type == 3 then elemAt type 2 else [ ]) value;

  object =
    where: attributes: optional: value:
    let
      absent = filter (key: !(value ? ${key}) && !(elem key optional)) (attrNames attributes);
    in
    if absent != [ ] then
      throw "nivis.plan: ${where} lacks ${internal._quoteAll absent}"
    else
      mapAttrs (key: type: convert "'${key}' of ${where}" type (value.${key} or null)) attributes;

  flag =
    name: attribute: value:
    if isBool value then
      value
    else
      throw "nivis.plan: '${attribute}' of variable '${name}' is ${internal._describe value}; write true or false";

  # { condition; message; }, or a list of these.
  rulesOf =
    name: value:
    let
      check =
        rule:
        if isAttrs rule && rule ? condition && rule ? message && isFunction rule.condition && isString rule.message then
          rule
        else
          throw "nivis.plan: 'validation' of variable '${name}' must be { condition = value: …; message = \"…\"; }, or a list of these";
    in
    map check (if isList value then value else [ value ]);

  # What the declaration of one variable and what was given for it come to.
  one =
    given: name: declaration:
    let
      checked = checkDeclaration name declaration;
      type = checkType name (checked.type or "any");
      sensitive = flag name "sensitive" (checked.sensitive or false);
      nullable = flag name "nullable" (checked.nullable or true);
      entry = given.${name};
      from = if given ? ${name} then " (from ${entry.from or "the ledger"})" else "";
      where = "variable '${name}'${from}";

      # Text stands for itself where a single value is wanted, and is JSON where more is.
      read =
        if !(entry ? text) || isString type then
          entry.text or entry.value
        else if entry ? value then
          entry.value
        else
          throw "nivis.plan: ${where} must be ${words.${head type}}, and the text is not JSON; write it as JSON, such as ${
            if elem (head type) [ "map" "object" ] then "'{\"a\": 1}'" else "'[1, 2]'"
          }";
      default = convert "'default' of variable '${name}'" type checked.default;
      converted = convert where type read;
      value = seq type (
        if given ? ${name} && (read != null || nullable) then
          converted
        else if checked ? default then
          default
        else if given ? ${name} then
          throw "nivis.plan: ${where} must not be null"
        else
          throw "nivis.plan: variable '${name}' has no value; give it with `--var ${name}=…`, in a file with `--var-file`, or in the environment as NIVIS_VAR_${name}"
      );
      verdict = rule: rule.condition value;
      failed = filter (rule: verdict rule != true) (rulesOf name (checked.validation or [ ]));
      valid =
        if failed == [ ] then
          value
        else
          throw "nivis.plan: ${where} is not valid: ${(head failed).message}";
    in
    {
      inherit sensitive;
      value = valid;
      # Forced to the ground: a wrong part deep inside is told, used or not.
      ir = seq (toJSON valid) (
        (if checked ? type then { inherit type; } else { })
        // (if checked ? description then { inherit (checked) description; } else { })
        // (if checked ? default then { inherit default; } else { })
        // (if nullable then { } else { inherit nullable; })
        // (if sensitive then { inherit sensitive; } else { value = valid; })
      );
    };
in
{
  # `given` is the ledger's `vars`. Gives `of textOf`, the values as the author's function gets them, and `ir`.
  read =
    given: declared:
    let
      checked =
        if isAttrs declared && internal._kind declared == null then
          declared
        else
          throw "nivis.plan: 'variables' is ${internal._describe declared}; write `variables = { name = { … }; }`";
      unknown = filter (name: !(checked ? ${name}) && !(given.${name}.optional or false)) (attrNames given);
      first = head unknown;
      hint = if checked == { } then "; the stack has no 'variables'" else internal._hint first (attrNames checked);
      variables =
        if unknown == [ ] then
          mapAttrs (one given) checked
        else
          throw "nivis.plan: unknown variable '${first}' (from ${given.${first}.from or "the ledger"})${hint}";
    in
    {
      of =
        textOf:
        let
          secret = reference.make textOf reference.variables;
        in
        mapAttrs (name: variable: if variable.sensitive then secret name else variable.value) variables;
      ir = mapAttrs (_: variable: variable.ir) variables;
    };
}
