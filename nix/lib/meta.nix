# `meta`: everything about a resource that is not for its provider.
let
  inherit (builtins)
    filter
    head
    isBool
    isList
    isString
    map
    ;
  internal = import ./internal.nix;
  resources = import ./resource.nix;
  node = import ./node.nix;

  lifecycleNames = [
    "preventDestroy"
    "ignoreChanges"
    "createBeforeDestroy"
    "replaceTriggeredBy"
  ];
  metaNames = {
    resource = [
      "dependsOn"
      "lifecycle"
      "preconditions"
      "postconditions"
    ];
    data = [
      "dependsOn"
      "preconditions"
      "postconditions"
    ];
    ephemeral = [ "dependsOn" ];
    call = [ "dependsOn" ];
  };

  misplaced = {
    count = "call `count` around the resource: `count 3 (index: resource { … })`";
    forEach = "call `forEach` around the resource: `forEach set (key: value: resource { … })`";
    for_each = misplaced.forEach;
  };

  checkNames =
    declared: kind: meta:
    let
      wrong = filter (name: meta ? ${name}) (builtins.attrNames misplaced);
    in
    if !(builtins.isAttrs meta) then
      throw "nivis.${kind}: 'meta' of '${declared.id}' is ${internal._describe meta}; write `meta = { … }`"
    else if wrong != [ ] then
      throw "nivis.${kind}: 'meta.${head wrong}' in '${declared.id}'; ${misplaced.${head wrong}}"
    else
      internal._checkArgs {
        function = kind;
        noun = "meta attribute";
        of = _: " of '${declared.id}'";
        allowed = metaNames.${kind};
      } meta;

  # Ids of what is named under `meta.<name>`: values, ids, or (nested) lists and sets of these.
  idsOf =
    declared: name: value:
    let
      isLeaf = item: isString item || internal._kind item != null;
      idOf =
        item:
        if isString item then
          item
        else if resources.isDeclared item then
          item.id
        else
          throw "nivis.${internal._kind declared}: 'meta.${name}' of '${declared.id}' holds ${internal._describe item}; list resources, data sources or their ids";
    in
    internal._unique (map idOf (internal._flatten isLeaf value));

  flag =
    declared: name: value:
    if isBool value then
      value
    else
      throw "nivis.resource: 'meta.lifecycle.${name}' of '${declared.id}' is ${internal._describe value}; write true or false";

  ignoredPath =
    declared: entry:
    if isString entry then
      entry
    else if isList entry && entry != [ ] then
      node.exactPath entry
    else
      throw "nivis.resource: 'meta.lifecycle.ignoreChanges' of '${declared.id}' holds ${internal._describe entry}; list paths such as \"tags.env\", or \"*\" alone";

  ignoreChanges =
    declared: value:
    let
      paths = map (ignoredPath declared) value;
    in
    if !(isList value) then
      throw "nivis.resource: 'meta.lifecycle.ignoreChanges' of '${declared.id}' is ${internal._describe value}; write a list of paths"
    else if builtins.elem "*" paths && paths != [ "*" ] then
      throw "nivis.resource: 'meta.lifecycle.ignoreChanges' of '${declared.id}' has \"*\" among other paths; \"*\" stands alone"
    else
      paths;

  # A trigger is an output (a reference) or a whole resource (its value or id).
  trigger =
    declared: item:
    if internal._kind item == "ref" then
      { inherit (item) __ref; }
    else
      head (idsOf declared "lifecycle.replaceTriggeredBy" item);

  lifecycle =
    declared: value:
    let
      checked = internal._checkArgs {
        function = "resource";
        noun = "lifecycle attribute";
        of = _: " of '${declared.id}'";
        allowed = lifecycleNames;
      } value;
      triggers = map (trigger declared) checked.replaceTriggeredBy;
    in
    {
      preventDestroy = flag declared "preventDestroy" (checked.preventDestroy or false);
      ignoreChanges = ignoreChanges declared (checked.ignoreChanges or [ ]);
    }
    // (
      if checked ? createBeforeDestroy then
        { createBeforeDestroy = flag declared "createBeforeDestroy" checked.createBeforeDestroy; }
      else
        { }
    )
    // (if checked ? replaceTriggeredBy then { replaceTriggeredBy = triggers; } else { });

  unsaid = {
    resource = {
      dependsOn = [ ];
      lifecycle = {
        preventDestroy = false;
        ignoreChanges = [ ];
      };
    };
    data.dependsOn = [ ];
    ephemeral.dependsOn = [ ];
    call.dependsOn = [ ];
  };
in
{
  # The IR's `meta` of what says nothing in its own, by kind.
  inherit unsaid;

  # The IR's `meta` without what the configuration adds (builds, sensitive paths), and without conditions (condition.nix).
  make =
    declared:
    let
      kind = internal._kind declared;
      checked = checkNames declared kind declared.meta;
    in
    {
      dependsOn = idsOf declared "dependsOn" (checked.dependsOn or [ ]);
    }
    // (if kind == "resource" then { lifecycle = lifecycle declared (checked.lifecycle or { }); } else { })
    // (if declared.index == null then { } else { inherit (declared) index; });
}
