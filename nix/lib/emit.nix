# One entry of the IR at a time: a provider, a resource or data source, a consumer; and the edges that lead to it.
let
  inherit (builtins)
    all
    any
    attrNames
    concatMap
    filter
    hasContext
    head
    isAttrs
    isPath
    isString
    map
    tail
    ;
  internal = import ./internal.nix;
  leaf = import ./leaf.nix;
  node = import ./node.nix;
  metas = import ./meta.nix;
  conditions = import ./condition.nix;
  builds = import ./build.nix;
  reference = import ./reference.nix;

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
      builtins.toString source
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
# `p`, `w`, `exact` and `l` are the stack with placeholders, with witnesses, with exact references, and with what the ledger
# knows.
{
  ledger,
  p,
  w,
  exact,
  l,
  ...
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
      }${
        if waiting == [ ] then
          ""
        else
          " (what ${internal._quoteAll (map (part: part.id) waiting)} declares is not known yet: to use that, make the derive an input of a `derive`)"
      }";

  waiting = filter (part: !part.known) p.parts;

  # Computed once for each declared resource.
  startOf =
    id: if p.byId ? ${id} then p.byId.${id}.placeholderStart else reference.placeholderStart id;

  # `lead` comes before `via` in messages.
  edgeTo =
    lead: to: via: from:
    if p.byId ? ${from} then
      [ { inherit from to via; } ]
    else if from == reference.variables then
      [ ]
    else
      checkTarget "${lead}${via} of '${to}'" from;

  walkTree = leaf.walker {
    inherit
      ledger
      startOf
      exact
      l
      ;
  };

  stringOf = text: text;
  whereIn =
    part: owner: at:
    "${pathText ([ part ] ++ at)} of '${owner}'";

  # One edge from each resource that is used at a place; `edge via from` are the edges for one.
  edgesOf =
    edge: prefix: at: refs:
    let
      via = pathText (prefix ++ at);
      first = (head refs).resource;
    in
    if tail refs == [ ] || all (ref: ref.resource == first) refs then
      edge via first
    else
      concatMap (edge via) (internal._unique (map (ref: ref.resource) refs));

  # Walks the tree `part` of the entry `owner`; `prefix` comes before places in `via` of edges, and `find` gets the tree out
  # of a version of the stack.
  walk =
    {
      owner,
      part,
      prefix ? [ ],
      find,
      edge ? edgeTo (if prefix == [ ] then "${part}." else ""),
    }:
    tree:
    let
      walked = walkTree {
        inherit find stringOf;
        depth = 0;
        notesBuilds = false;
        inSecret = false;
        where = whereIn part owner;
        edges = edgesOf (edge owner) prefix;
      } [ ] tree (find w);
    in
    {
      inherit (walked) value;
      edges = walked.edges or [ ];
      notes = walked.notes or [ ];
    };

  # Edges that `meta` asks for.
  metaEdges =
    id: via: ids:
    map (from: {
      from = checkTarget "meta.${via} of '${id}'" from;
      to = id;
      via = "meta.${via}";
    }) (internal._unique ids);

  # What a condition says is told to people when it does not hold.
  publicMessages =
    owner: walked:
    if any (note: note ? sensitive && builtins.elem "message" note.at) walked.notes then
      throw "nivis.plan: a message in ${owner} is sensitive; say it without the secret"
    else
      walked;

  # The conditions under `meta.<name>`, and the edges they make. That a result is about the object itself is no edge.
  conditionsOf =
    declared: name:
    let
      inherit (declared) id;
      tree = conditions.of declared name;
      walked = publicMessages "'meta.${name}' of '${id}'" (
        walk {
          owner = id;
          part = "meta.${name}";
          prefix = [
            "meta"
            name
          ];
          find = stack: if stack.byId ? ${id} then conditions.of stack.byId.${id} name else missing;
        } tree
      );
    in
    {
      edges = filter (edge: edge.from != id) walked.edges;
      meta = optional (tree != [ ]) { ${name} = walked.value; };
    };

  # What `meta` gives: that of the IR, and edges.
  aroundOf =
    declared:
    let
      inherit (declared) id;
      meta = metas.make declared;
      triggers = meta.lifecycle.replaceTriggeredBy or [ ];
      triggerId = trigger: trigger.__ref.resource or trigger;
      preconditions = conditionsOf declared "preconditions";
      postconditions = conditionsOf declared "postconditions";
    in
    {
      edges =
        metaEdges id "dependsOn" meta.dependsOn
        ++ metaEdges id "lifecycle.replaceTriggeredBy" (map triggerId triggers)
        ++ preconditions.edges
        ++ postconditions.edges;
      meta = meta // preconditions.meta // postconditions.meta;
    };

  # A call has other names for two things.
  callOf =
    entry:
    removeAttrs entry [
      "type"
      "config"
    ]
    // {
      function = entry.type;
      arguments = entry.config;
    };

  # What notes add to `meta`.
  notedOf =
    notes:
    let
      needed = internal._uniqueBy (build: "${build.drv}!${build.output}") (
        map (note: note.build) (filter (note: note ? build) notes)
      );
      sensitive = map (note: node.exactPath note.at) (filter isSensitive notes);
    in
    optional (needed != [ ]) { builds = needed; } // optional (sensitive != [ ]) { inherit sensitive; };
in
{
  # Of a resource or data source; `other` is the same with witnesses.
  resource =
    other: declared:
    let
      inherit (declared) id;
      kind = internal._kind declared;
      isCall = declared._type == "nivis.call";
      part = if isCall then "arguments" else "config";
      walked = walkTree {
        find = stack: stack.byId.${id}.config or missing;
        depth = 0;
        notesBuilds = true;
        inSecret = false;
        inherit stringOf;
        where = whereIn part id;
        edges = edgesOf (edgeTo "${part}." id) [ ];
      } [ ] (
        if isCall || isAttrs declared.config && !(declared.config ? _type) then
          declared.config
        else
          checkConfig kind id declared.config
      ) (other.config or missing);
      # Most resources say nothing in `meta`, and nothing is noted in their configuration.
      isQuiet = declared.meta == { } && declared.index == null;
      around = aroundOf declared;
      meta = if isQuiet then metas.unsaid.${kind} else around.meta;
      notes = walked.notes or [ ];
      entry = {
        inherit id;
        provider = declared.provider.id;
        inherit (declared) name type;
        config = walked.value;
        meta = if notes == [ ] then meta else meta // notedOf notes;
      };
      edges = walked.edges or [ ];
    in
    {
      edges = if isQuiet then edges else edges ++ around.edges;
      ir = if isCall then callOf entry else entry;
    };

  provider =
    id: given:
    let
      to = "provider.${id}";
      config = checkConfig "provider" id given.config;
      walked = walk {
        owner = to;
        part = "config";
        find = stack: stack.providers.${id}.config or missing;
      } config;
      told = walk {
        owner = to;
        part = "meta";
        find = stack: stack.providers.${id}.meta or missing;
        edge = _: _: from: [ from ];
      } given.meta;
    in
    if any isSensitive walked.notes then
      throw "nivis.provider: 'config' of '${id}' marks a part as sensitive; a provider's configuration is not stored, write the value itself"
    else if given.meta != null && !(isAttrs given.meta && internal._kind given.meta == null) then
      throw "nivis.provider: 'meta' of '${id}' is ${internal._describe given.meta}; write `meta = { … }`"
    else if given.meta != null && (told.edges != [ ] || told.notes != [ ]) then
      throw "nivis.provider: 'meta' of '${id}' depends on outputs or is marked; write plain values"
    else
      {
        inherit (walked) edges;
        ir = {
          source = sourceOf id given.source;
          config = walked.value;
        }
        // optional (given.version != null) { inherit (given) version; }
        // optional (given.meta != null) { meta = told.value; };
      };

  # Of an output of the stack.
  output =
    name: given:
    let
      id = "output.${name}";
      walked = walk {
        owner = id;
        part = "value";
        prefix = [ "value" ];
        find = stack: stack.outputs.${name}.value or missing;
      } given.value;
      sensitive = given.sensitive or false || any isSensitive walked.notes;
    in
    {
      inherit (walked) edges;
      ir = {
        inherit id;
        inherit (walked) value;
      }
      // optional sensitive { inherit sensitive; }
      // optional (given ? description) { inherit (given) description; };
    };

  # A check of the stack. Nothing waits for it, so that it has no edges; but what it uses has to be declared.
  check =
    name: tree:
    let
      owner = "check.${name}";
      walked = publicMessages "'${owner}'" (
        walk {
          inherit owner;
          part = "check";
          prefix = [ "check" ];
          find = stack: stack.checks.${name} or missing;
        } tree
      );
      used = map (edge: edge.from) walked.edges;
    in
    if any isSensitive walked.notes then
      throw "nivis.plan: the condition of '${owner}' is a `deriveSensitive`; a check stands beside all resources and gets no secrets, write it as a postcondition of one of them"
    else
      builtins.deepSeq used ({ inherit name; } // walked.value);

  # Of a part of the stack that depends on outputs.
  part =
    given:
    let
      via = "deferred.${given.id}";
      from = internal._unique (map (ref: ref.resource) given.refs);
      used = map (checkTarget "'${given.id}'") (filter (id: id != reference.variables) from);
    in
    {
      edges = concatMap (to: map (from: { inherit from to via; }) used) (given.ids or [ ]);
      ir =
        builtins.deepSeq used {
          inherit (given) id refs;
          inputs = map reference.show given.refs;
        }
        // optional given.known { declares = given.ids; };
    };

  # Of an import, by its position among the imports.
  import =
    index: entry:
    let
      at = [
        "imports"
        "id"
      ];
      walked = walk {
        owner = to;
        part = "imports.id";
        prefix = at;
        find =
          stack:
          if index < builtins.length stack.imports then (builtins.elemAt stack.imports index).id or missing else missing;
      } entry.id;
      to = checkTarget "'to' in 'imports'" entry.to;
    in
    if internal._kind p.byId.${to} != "resource" then
      throw "nivis.plan: 'to' in 'imports' is '${to}', which is no resource; only resources take objects over"
    else if any isSensitive walked.notes then
      throw "nivis.plan: ${pathText at} of '${to}' is sensitive; it is shown in plans, write a plain value"
    else
      {
        inherit (walked) edges;
        ir = {
          inherit to;
          id = walked.value;
        };
      };

  # A tree that has to be the same whatever the outputs are, such as the backend.
  static =
    owner: tree:
    let
      walked = walk {
        inherit owner;
        part = owner;
        find = stack: stack.${owner};
        edge = _: _: from: [ from ];
      } tree;
    in
    if walked.edges == [ ] && walked.notes == [ ] then
      walked.value
    else
      throw "nivis.plan: '${owner}' depends on outputs or is marked; write plain values";
}
