# Resources and data sources, and their instances under `forEach` and `count`.
let
  inherit (builtins)
    filter
    genList
    groupBy
    hasContext
    head
    isAttrs
    isInt
    isList
    isString
    length
    listToAttrs
    map
    mapAttrs
    replaceStrings
    substring
    ;
  internal = import ./internal.nix;
  reference = import ./reference.nix;

  # The arguments by kind; those of the second list may be left out.
  argsOf =
    let
      ofType = [
        [ "provider" "type" "name" ]
        [ "config" "meta" ]
      ];
    in
    {
      resource = ofType;
      data = ofType;
      ephemeral = ofType;
      call = [
        [ "provider" "function" "name" "arguments" ]
        [ "meta" ]
      ];
    };
  checkArgs = mapAttrs (
    function: args:
    internal._checkArgs {
      inherit function;
      required = head args;
      of = internal._ofName "name";
      allowed = builtins.concatLists args;
    }
  ) argsOf;

  checkArguments =
    id: arguments:
    if isList arguments then
      arguments
    else
      throw "nivis.call: 'arguments' of '${id}' is ${internal._describe arguments}; write a list";
  # The first part of an id, by kind.
  prefixes = {
    resource = "";
    data = "data.";
    ephemeral = "ephemeral.";
    call = "call.";
  };

  # ASCII except letters, digits, "-" and "_" becomes %XX. The leading "_" and the second of two become %5F, so that the
  # "__" before the key is the last one in the name and no two keys share a name.
  asciiEscapes =
    let
      hex = [ "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "A" "B" "C" "D" "E" "F" ];
      codes = builtins.concatMap (high: map (low: high + low) hex) [ "0" "1" "2" "3" "4" "5" "6" "7" ];
      entry = code: {
        name = builtins.fromJSON "\"\\u00${code}\"";
        value = "%${code}";
      };
      # Nix strings hold no NUL.
      entries = map entry (filter (code: code != "00") codes);
    in
    filter (e: builtins.match "[A-Za-z0-9_-]" e.name == null) entries;
  escapeAscii = replaceStrings (map (e: e.name) asciiEscapes) (map (e: e.value) asciiEscapes);
  escapeUnderscores = replaceStrings [ "__" ] [ "_%5F" ];
  escapeKey =
    key:
    let
      escaped = escapeAscii key;
      leads = substring 0 1 escaped == "_";
    in
    if leads then "%5F${escapeUnderscores (substring 1 (-1) escaped)}" else escapeUnderscores escaped;

  isName = value: isString value && value != "" && !(hasContext value);

  # `kind` is one of `argsOf`; `index` is null, a string (`forEach`) or an integer (`count`).
  build =
    kind:
    let
      check = checkArgs.${kind};
      prefix = prefixes.${kind};
      allowed = builtins.concatLists argsOf.${kind};
      isCall = kind == "call";
      # A call has a function for a type, and a list of arguments for a configuration.
      typeArg = if isCall then "function" else "type";
      _type = "nivis.${kind}";
    in
    textOf: index: args:
    let
      # There may be very many, and nearly all are right.
      checked = if isAttrs args && removeAttrs args allowed == { } then args else check args;
      given = (check args).name;
      base = checked.name or given;
      kindOf = checked.${typeArg} or given;
      by = checked.provider or given;
      type = if isName kindOf then kindOf else internal._staticName kind typeArg kindOf;
      named = if isName base then base else internal._staticName kind "name" base;
      name = if index == null then named else "${named}__${escapeKey (toString index)}";
      provider =
        if by ? _type && by._type == "nivis.provider" then
          by
        else
          throw "nivis.${kind}: 'provider' of '${type}.${named}' is ${internal._describe by}; give a value made by `provider { … }`";
      id = "${prefix}${provider.id}.${type}.${name}";
    in
    {
      inherit
        _type
        args
        id
        index
        name
        provider
        type
        ;
      config = if isCall then checkArguments id (checked.arguments or given) else checked.config or { };
      meta = checked.meta or { };
      ref = reference.make textOf id;
      placeholderStart = reference.placeholderStart id;
      __toString =
        _:
        throw "nivis.${kind}: '${id}' is interpolated whole; interpolate one of its outputs, such as `\${x.ref \"id\"}`";
    };
  builders = mapAttrs (kind: _: build kind) argsOf;

  declaredTypes = builtins.listToAttrs (
    map (kind: {
      name = "nivis.${kind}";
      value = true;
    }) (builtins.attrNames argsOf)
  );
  isDeclared = value: value ? _type && isString value._type && declaredTypes ? ${value._type};

  # Makes an instance of what the author's function gave for one key.
  instance =
    textOf: function: key: declared:
    if !(isDeclared declared) then
      throw "nivis.${function}: the function gave ${internal._describe declared} for key '${toString key}'; give one resource or data source"
    else if declared.index != null then
      throw "nivis.${function}: '${declared.id}' is an instance already; use one `forEach` over the combined keys"
    else
      builders.${internal._kind declared} textOf key declared.args;

  # How to do what somebody wants who gives an output for keys or a number.
  byOutputs =
    function: value:
    if internal._kind value == "ref" || internal._kind value == "derive" || isString value && builtins.hasContext value then
      "; outputs decide which resources there are inside of a `derive`: write `derive { … } (values: ${function} …)` here"
    else
      "";

  checkKey =
    key:
    if isString key && !(builtins.hasContext key) then
      key
    else
      throw "nivis.forEach: a key is ${
        if isString key then "a string that depends on an output or a build" else internal._describe key
      }; keys are plain strings";

  listKeys =
    list:
    let
      keys = map checkKey list;
      twice = filter (key: length (groupBy (k: k) keys).${key} > 1) keys;
    in
    if twice == [ ] then
      listToAttrs (
        map (key: {
          name = key;
          value = key;
        }) keys
      )
    else
      throw "nivis.forEach: key '${head twice}' is listed twice; remove one";
in
{
  inherit isDeclared;

  resource = textOf: builders.resource textOf null;
  data = textOf: builders.data textOf null;
  ephemeral = textOf: builders.ephemeral textOf null;
  call = textOf: builders.call textOf null;

  # Set or list of keys → function of key and value → set of instances by key.
  forEach =
    textOf: over: make:
    let
      items =
        if isList over then
          listKeys over
        else if isAttrs over && internal._kind over == null then
          over
        else
          throw "nivis.forEach: expected an attribute set or a list of strings, got ${internal._describe over}${byOutputs "forEach" over}";
    in
    mapAttrs (key: value: instance textOf "forEach" key (make key value)) items;

  # Number → function of index → list of instances.
  count =
    textOf: number: make:
    if isInt number && number >= 0 then
      genList (index: instance textOf "count" index (make index)) number
    else
      throw "nivis.count: expected an integer from 0, got ${internal._describe number}${byOutputs "count" number}";
}
