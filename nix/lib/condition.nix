# Conditions: what must hold of a resource or data source before it is changed and afterwards, and checks of the stack.
let
  inherit (builtins)
    elem
    filter
    groupBy
    hasContext
    head
    isBool
    isFunction
    isList
    isString
    length
    listToAttrs
    map
    ;
  internal = import ./internal.nix;

  names = [
    "condition"
    "message"
  ];

  leaves = [
    "ref"
    "derive"
  ];
  isLeaf = value: elem (internal._kind value) leaves || isString value && hasContext value;

  # `{ condition; message; }` as it goes into the IR. `fail problem` throws.
  body =
    fail:
    { condition, message, ... }:
    if !(isBool condition || isLeaf condition) then
      fail "'condition' is ${internal._describe condition}; give true or false, a reference, or a `derive` that gives one of them"
    else if !(isString message || isLeaf message) then
      fail "'message' is ${internal._describe message}; write in a string what is wrong if the condition does not hold"
    else
      { inherit condition message; };

  entry =
    declared: name: given:
    let
      function = internal._kind declared;
      place = " in 'meta.${name}' of '${declared.id}'";
      checked = internal._checkArgs {
        inherit function;
        noun = "attribute";
        of = _: place;
        allowed = names;
        required = names;
      } given;
    in
    body (problem: throw "nivis.${function}: a condition${place}: ${problem}") checked;

  checkArgs = internal._checkArgs {
    function = "check";
    of = internal._ofName "name";
    allowed = names ++ [ "name" ];
    required = names ++ [ "name" ];
  };

  isCheckOrText = value: internal._kind value != null || isString value;
in
{
  # What is declared under `meta.<name>`: a list, or for postconditions a function that gets the resource itself.
  of =
    declared: name:
    let
      given = declared.meta.${name} or [ ];
      value = if isFunction given && name == "postconditions" then given declared else given;
    in
    if isList value then
      map (entry declared name) value
    else
      throw "nivis.${internal._kind declared}: 'meta.${name}' of '${declared.id}' is ${internal._describe value}; write a list of `{ condition; message; }`${
        if name == "postconditions" then ", or a function from the resource itself to one" else ""
      }";

  # A check of the stack.
  make =
    args:
    let
      checked = checkArgs args;
      name = internal._staticName "check" "name" checked.name;
    in
    {
      _type = "nivis.check";
      inherit name;
      body = body (problem: throw "nivis.check: '${name}': ${problem}") checked;
    };

  # The checks of a stack by name, from lists or sets of them.
  byName =
    value:
    let
      all = map (
        item:
        if internal._kind item == "check" then
          item
        else
          throw "nivis.plan: 'checks' holds ${internal._describe item}; list values made by `check`"
      ) (internal._flatten isCheckOrText value);
      twice = filter (check: length (groupBy (c: c.name) all).${check.name} > 1) all;
    in
    if twice == [ ] then
      listToAttrs (
        map (check: {
          inherit (check) name;
          value = check.body;
        }) all
      )
    else
      throw "nivis.plan: there are two checks named '${(head twice).name}'; give one of them another name";
}
