# What an author's function gave, read: providers, resources and data sources by id, outputs.
let
  inherit (builtins)
    attrNames
    filter
    groupBy
    head
    isAttrs
    length
    listToAttrs
    map
    mapAttrs
    ;
  internal = import ./internal.nix;
  resources = import ./resource.nix;
  conditions = import ./condition.nix;

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
  later = [
    "deferred"
  ];

  checkStack =
    stack:
    let
      early = filter (name: stack ? ${name}) later;
    in
    if !(isAttrs stack) || internal._kind stack != null then
      throw "nivis.plan: the function gave ${internal._describe stack}; let it give `{ resources = …; }`"
    else if early != [ ] then
      throw "nivis.plan: '${head early}' is not supported yet; remove it"
    else
      internal._checkArgs {
        function = "plan";
        noun = "attribute";
        allowed = names;
      } stack;

  isLeaf = value: value ? _type || builtins.isString value;

  declaredOf =
    name: value:
    let
      wrong =
        item:
        if internal._kind item == "derive" then
          throw "nivis.plan: '${name}' holds a derive; which resources there are cannot depend on outputs yet, list them all"
        else if internal._kind item == "provider" then
          throw "nivis.plan: '${name}' holds the provider '${item.id}'; list it under 'providers'"
        else
          throw "nivis.plan: '${name}' holds ${internal._describe item}; list values made by `resource` or `data`";
    in
    map (item: if resources.isDeclared item then item else wrong item) (internal._flatten isLeaf value);

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
      declared = declaredOf "resources" (stack.resources or [ ]) ++ declaredOf "data" (stack.data or [ ]);
      byType = groupBy (d: d._type) declared;
      listed = map checkProvider (internal._flatten isLeaf (stack.providers or [ ]));
    in
    {
      byId = indexById declared;
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
