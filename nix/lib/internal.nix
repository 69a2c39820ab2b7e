# Private helpers of the library. Nothing here is part of the interface.
let
  inherit (builtins)
    attrNames
    attrValues
    concatMap
    concatStringsSep
    elem
    elemAt
    filter
    foldl'
    genList
    hasContext
    isAttrs
    isList
    isString
    length
    listToAttrs
    removeAttrs
    sort
    stringLength
    substring
    typeOf
    ;
in
rec {
  # What a value is, in words for messages.
  _describe =
    value:
    let
      kind = _kind value;
      kinds = {
        ref = "a reference";
        data = "a data source";
        ephemeral = "an ephemeral resource";
        call = "a function call";
        drv = "a build";
        sensitive = "a sensitive value";
      };
      types = {
        int = "the integer ${toString value}";
        set = "an attribute set";
        lambda = "a function";
        null = "null";
      };
      type = typeOf value;
    in
    if kind != null then kinds.${kind} or "a ${kind}" else types.${type} or "a ${type}";

  # The library's own values carry `_type = "nivis.<kind>"`. Gives the kind, or null for anything else.
  _kind = value: if value ? _type then _kindOf value._type else null;
  _kindOf =
    type: if isString type && substring 0 6 type == "nivis." then substring 6 (-1) type else null;

  _min = a: b: if a < b then a else b;

  _characters = text: genList (i: substring i 1 text) (stringLength text);

  # Levenshtein distance of two short names; used on the way to an error only.
  _distance =
    a: b:
    let
      columns = _characters b;
      nextRow =
        row: character:
        foldl' (
          done: i:
          let
            replaced = elemAt row i + (if elemAt columns i == character then 0 else 1);
            inserted = elemAt done i + 1;
            deleted = elemAt row (i + 1) + 1;
          in
          done ++ [ (_min replaced (_min inserted deleted)) ]
        ) [ (elemAt row 0 + 1) ] (genList (i: i) (length columns));
      last = foldl' nextRow (genList (i: i) (length columns + 1)) (_characters a);
    in
    elemAt last (length columns);

  # Up to three of `candidates` that look like `name`, best first.
  _nearest =
    name: candidates:
    let
      limit = if stringLength name < 6 then 2 else stringLength name / 3;
      scored = map (candidate: {
        inherit candidate;
        distance = _distance name candidate;
      }) candidates;
      close = sort (a: b: a.distance < b.distance) (filter (s: s.distance <= limit) scored);
    in
    map (s: s.candidate) (genList (elemAt close) (_min 3 (length close)));

  _quoteAll = names: concatStringsSep ", " (map (name: "'${name}'") names);

  # "; did you mean 'x'?" or, when nothing is near, "; valid are 'a', 'b'".
  _hint =
    name: candidates:
    let
      near = _nearest name candidates;
    in
    if near != [ ] then "; did you mean ${_quoteAll near}?" else "; valid are ${_quoteAll candidates}";

  # `args` itself, if it is an attribute set with no names outside of `allowed` and with all of `required`. `of args` adds
  # to a message whose arguments they are.
  _checkArgs =
    {
      function,
      noun ? "argument",
      of ? _: "",
      allowed,
      required ? [ ],
    }:
    let
      needed = listToAttrs (
        map (name: {
          inherit name;
          value = null;
        }) required
      );
    in
    args:
    let
      unknown = attrNames (removeAttrs args allowed);
      absent = filter (name: !(args ? ${name})) required;
      first = builtins.head unknown;
    in
    # There may be very many sets to check, and nearly all are right.
    if isAttrs args && removeAttrs args allowed == { } && removeAttrs needed (attrNames args) == { } then
      args
    # The library's own values have other names, so that they are looked at on the way to an error only.
    else if !(isAttrs args) || unknown != [ ] && _kind args != null then
      throw "nivis.${function}: expected a set of ${noun}s${of args}, got ${_describe args}; write `{ … }`"
    else if unknown != [ ] then
      throw "nivis.${function}: unknown ${noun} '${first}'${of args}${_hint first allowed}"
    else
      throw "nivis.${function}: missing ${noun} '${builtins.head absent}'${of args}; give ${_quoteAll required}";

  # For `of`: the name among the arguments, if it is there and plain.
  _ofName =
    name: args:
    if isAttrs args && args ? ${name} && isString args.${name} && !(hasContext args.${name}) then
      " of '${args.${name}}'"
    else
      "";

  # A name that becomes part of an address: a non-empty string that no output can change.
  _staticName =
    function: argument: value:
    if isString value && value != "" && !(hasContext value) then
      value
    else if _kind value == "ref" || _kind value == "derive" || isString value && hasContext value then
      throw "nivis.${function}: '${argument}' depends on an output or a build; addresses are fixed at evaluation, write a plain string"
    else if !(isString value) then
      throw "nivis.${function}: '${argument}' must be a string, got ${_describe value}; write it in quotes"
    else
      throw "nivis.${function}: '${argument}' is empty; give it a name";

  # All leaves of nested lists and attribute sets, left to right; `isLeaf` says where to stop.
  _flatten =
    isLeaf: value:
    if isLeaf value then
      [ value ]
    else if isList value then
      if builtins.all isLeaf value then value else concatMap (_flatten isLeaf) value
    else if isAttrs value then
      concatMap (_flatten isLeaf) (attrValues value)
    else
      [ value ];

  # The list without repetitions, by `keyOf`; the first of equals stays, in its place.
  _uniqueBy =
    keyOf: list:
    # Most lists are short.
    if length list < 2 || length list == 2 && keyOf (elemAt list 0) != keyOf (elemAt list 1) then
      list
    else
      map (item: item.value) (
        builtins.genericClosure {
          startSet = map (value: {
            key = keyOf value;
            inherit value;
          }) list;
          operator = _: [ ];
        }
      );

  # The same for plain values that `==` tells apart fast.
  _unique =
    list:
    if length list < 2 then
      list
    else if length list < 20 then
      foldl' (done: value: if elem value done then done else done ++ [ value ]) [ ] list
    else
      _uniqueBy (value: value) list;
}
