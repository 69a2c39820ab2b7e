# One entry of the IR at a time: a provider, a resource or data source, a consumer; and the edges that lead to it.
let
  inherit (builtins)
    any
    attrNames
    concatMap
    filter
    hasContext
    isAttrs
    isPath
    isString
    map
    ;
  internal = import ./internal.nix;
  leaf = import ./leaf.nix;
  node = import ./node.nix;
  metas = import ./meta.nix;
  builds = import ./build.nix;

  inherit (leaf) missing;
  inherit (node) pathText;

  optional = condition: attrs: if condition then attrs else { };
  isSensitive = note: note ? sensitive;

  sourceOf =
    id: source:
    if builds.isDerivation source then
      { __build = builds.ofDerivation source; }
    else if internal._kind source == "drv" then
      { __build = source.build; }
    else if isPath source then
      builtins.unsafeDiscardStringContext "${source}"
    else if isString source && !(hasContext source) then
      source
    else
      throw "nivis.provider: 'source' of '${id}' is ${
        if isString source then "a string that depends on a build or an output" else internal._describe source
      }; give a package, a path, an address such as \"hashicorp/random\", or \"builtin\"";

  checkConfig =
    function: id: config:
    if isAttrs config && internal._kind config == null then
      config
    else
      throw "nivis.${function}: 'config' of '${id}' is ${internal._describe config}; write `config = { … }`";
in
# `p`, `w` and `l` are the stack with placeholders, with witnesses, and with what the ledger knows.
{
  ledger,
  p,
  w,
  l,
}:
let
  # `id`, if it is declared.
  checkTarget =
    place: id:
    let
      near = internal._nearest id (attrNames p.byId);
    in
    if p.byId ? ${id} then
      id
    else
      throw "nivis.plan: ${place} uses '${id}', which is not declared; list it under 'resources' or 'data'${
        if near == [ ] then "" else ", or did you mean ${internal._quoteAll near}?"
      }";

  # The tree `part` of the entry `owner`, in the three versions.
  walk =
    owner: part: notesBuilds:
    leaf.walker {
      inherit ledger notesBuilds;
      where = at: "${pathText ([ part ] ++ at)} of '${owner}'";
    } [ ];

  # One edge from each resource that is used at a place; `prefix` comes before the place in `via`.
  edgesOf =
    to: prefix: walked:
    concatMap (
      used:
      let
        via = pathText (prefix ++ used.at);
        place = "${if prefix == [ ] then "config." else ""}${via} of '${to}'";
      in
      map (from: {
        from = if p.byId ? ${from} then from else checkTarget place from;
        inherit to via;
      }) (internal._unique (map (ref: ref.resource) used.refs))
    ) walked.uses;

  # Edges that `meta` asks for.
  metaEdges =
    id: via: ids:
    map (from: {
      from = checkTarget "meta.${via} of '${id}'" from;
      to = id;
      via = "meta.${via}";
    }) (internal._unique ids);
in
{
  # Of a resource or data source.
  resource =
    declared:
    let
      inherit (declared) id;
      kind = internal._kind declared;
      isCall = kind == "call";
      part = if isCall then "arguments" else "config";
      config = if isCall then declared.config else checkConfig kind id declared.config;
      counterpart = stack: stack.byId.${id}.config or missing;
      walked = walk id part true config (counterpart w) (counterpart l);
      meta = metas.make declared;
      triggers = meta.lifecycle.replaceTriggeredBy or [ ];
      triggerId = trigger: trigger.__ref.resource or trigger;
      needed = internal._uniqueBy (build: "${build.drv}!${build.output}") (
        map (note: note.build) (filter (note: note ? build) walked.notes)
      );
      sensitive = map (note: node.exactPath note.at) (filter isSensitive walked.notes);
    in
    {
      edges =
        edgesOf id [ ] walked
        ++ metaEdges id "dependsOn" meta.dependsOn
        ++ metaEdges id "lifecycle.replaceTriggeredBy" (map triggerId triggers);
      ir = {
        inherit id;
        provider = declared.provider.id;
        inherit (declared) name;
        ${part} = walked.value;
        ${if isCall then "function" else "type"} = declared.type;
        meta =
          meta // optional (needed != [ ]) { builds = needed; } // optional (sensitive != [ ]) { inherit sensitive; };
      };
    };

  provider =
    id: given:
    let
      to = "provider.${id}";
      config = checkConfig "provider" id given.config;
      counterpart = stack: stack.providers.${id}.config or missing;
      walked = walk to "config" false config (counterpart w) (counterpart l);
    in
    if any isSensitive walked.notes then
      throw "nivis.provider: 'config' of '${id}' marks a part as sensitive; a provider's configuration is not stored, write the value itself"
    else
      {
        edges = edgesOf to [ ] walked;
        ir = {
          source = sourceOf id given.source;
          config = walked.value;
        }
        // optional (given.version != null) { inherit (given) version; };
      };

  # Of an output of the stack.
  output =
    name: given:
    let
      id = "output.${name}";
      counterpart = stack: stack.outputs.${name}.value or missing;
      walked = walk id "value" false given.value (counterpart w) (counterpart l);
      sensitive = given.sensitive or false || any isSensitive walked.notes;
    in
    {
      edges = edgesOf id [ "value" ] walked;
      ir = {
        inherit id;
        inherit (walked) value;
      }
      // optional sensitive { inherit sensitive; }
      // optional (given ? description) { inherit (given) description; };
    };

  # A tree that has to be the same whatever the outputs are, such as the backend.
  static =
    owner: tree:
    let
      walked = walk owner owner false tree missing missing;
    in
    if walked.uses == [ ] && walked.notes == [ ] then
      walked.value
    else
      throw "nivis.plan: '${owner}' depends on outputs or is marked; write plain values";
}
