# What an author's function gave, read: providers, resources and data sources by id, outputs.
let
  inherit (builtins)
    attrNames
    attrValues
    concatMap
    elemAt
    filter
    genList
    groupBy
    head
    isAttrs
    isList
    length
    listToAttrs
    map
    mapAttrs
    ;
  internal = import ./internal.nix;
  resources = import ./resource.nix;
  conditions = import ./condition.nix;
  inherit (import ./node.nix) pathText;

  names = [
    "providers"
    "resources"
    "data"
    "outputs"
    "backend"
    "moved"
    "removed"
    "imports"
    "checks"
    "variables"
  ];

  checkStack =
    stack:
    if !(isAttrs stack) || internal._kind stack != null then
      throw "nivis.plan: the function gave ${internal._describe stack}; let it give `{ resources = …; }`"
    else
      internal._checkArgs {
        function = "plan";
        noun = "attribute";
        allowed = names;
      } stack;

  isLeaf = value: value ? _type || builtins.isString value;

  # What is listed: `declared`, a list, and `parts`, see below.
  declaredIn =
    name: value:
    let
      flat = internal._flatten isLeaf value;
    in
    if builtins.all resources.isDeclared flat then
      {
        declared = flat;
        parts = [ ];
      }
    else
      declaredAt [ name ] value;

  # What is declared at a place, which is a list of steps, and below: `declared`, a list, and `parts`, those parts of it that
  # depend on outputs: { id; refs; known; ids; }. `ids` are what a part declares, once that is known.
  declaredAt =
    at: value:
    let
      kind = internal._kind value;
      place = pathText at;
      join = found: {
        declared = concatMap (one: one.declared) found;
        parts = concatMap (one: one.parts) found;
      };
    in
    if kind == "derive" then
      partAt at value
    else if resources.isDeclared value then
      {
        declared = [ value ];
        parts = [ ];
      }
    else if kind == "provider" then
      throw "nivis.plan: '${place}' is the provider '${value.id}'; list it under 'providers'"
    else if isList value then
      join (genList (i: declaredAt (at ++ [ i ]) (elemAt value i)) (length value))
    else if isAttrs value && kind == null then
      join (attrValues (mapAttrs (name: declaredAt (at ++ [ name ])) value))
    else
      throw "nivis.plan: '${place}' is ${internal._describe value}; list values made by `resource` or `data`";

  partAt =
    at: derive:
    let
      inside = declaredAt (if internal._kind derive.result == "derive" then at ++ [ "result" ] else at) derive.result;
      part = {
        id = pathText at;
        inherit (derive) known refs;
      };
    in
    if derive.sensitive then
      throw "nivis.plan: '${part.id}' is a `deriveSensitive`; which resources there are is no secret, use `derive` over outputs that are not sensitive"
    else if derive.known then
      {
        inherit (inside) declared;
        parts = [ (part // { ids = map (d: d.id) inside.declared; }) ] ++ inside.parts;
      }
    else
      {
        declared = [ ];
        parts = [ part ];
      };

  checkProvider =
    item:
    if internal._kind item == "provider" then
      item
    else
      throw "nivis.plan: 'providers' holds ${internal._describe item}; list values made by `provider`";

  indexById =
    declared:
    let
      byId = listToAttrs (
        map (value: {
          name = value.id;
          inherit value;
        }) declared
      );
      twice = filter (item: length (groupBy (d: d.id) declared).${item.id} > 1) declared;
    in
    if length (attrNames byId) == length declared then
      byId
    else
      throw "nivis.plan: '${(head twice).id}' is declared twice; give one of them another name";

  # One provider per id. The same value may appear any number of times.
  joinProviders =
    all:
    mapAttrs (
      id: same:
      let
        first = head same;
      in
      if builtins.all (other: other == first) same then
        first
      else
        throw "nivis.plan: two different providers have the id '${id}'; define one with `let` and use that, or give them different ids"
    ) (groupBy (provider: provider.id) all);

  # An output is a value, or a value with what people should know about it.
  outputArgs = [
    "value"
    "sensitive"
    "description"
  ];
  readOutput =
    output:
    if
      isAttrs output && internal._kind output == null && output ? value && removeAttrs output outputArgs == { }
    then
      output
    else
      { value = output; };
  checkOutputs =
    outputs:
    if isAttrs outputs && internal._kind outputs == null then
      outputs
    else
      throw "nivis.plan: 'outputs' is ${internal._describe outputs}; write `outputs = { … }`";
in
{
  read =
    given:
    let
      stack = checkStack given;
      inResources = declaredIn "resources" (stack.resources or [ ]);
      inData = declaredIn "data" (stack.data or [ ]);
      declared = inResources.declared ++ inData.declared;
      byType = groupBy (d: d._type) declared;
      listed = map checkProvider (internal._flatten isLeaf (stack.providers or [ ]));
    in
    {
      byId = indexById declared;
      parts = inResources.parts ++ inData.parts;
      resources = byType."nivis.resource" or [ ];
      data = byType."nivis.data" or [ ];
      ephemeral = byType."nivis.ephemeral" or [ ];
      calls = byType."nivis.call" or [ ];
      providers = joinProviders (listed ++ map (d: d.provider) declared);
      outputs = mapAttrs (_: readOutput) (checkOutputs (stack.outputs or { }));
      backend = stack.backend or null;
      moved = stack.moved or [ ];
      removed = stack.removed or [ ];
      imports = stack.imports or [ ];
      variables = stack.variables or { };
      checks = conditions.byName (stack.checks or [ ]);
    };
}
