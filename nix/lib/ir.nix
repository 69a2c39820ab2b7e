# The IR of a stack: its function evaluated three times, joined entry by entry. docs/IR-CONTRACT.md is the shape.
let
  inherit (builtins)
    attrNames
    attrValues
    concatMap
    elemAt
    filter
    genList
    intersectAttrs
    isBool
    isFunction
    isString
    length
    listToAttrs
    map
    mapAttrs
    ;
  internal = import ./internal.nix;
  reference = import ./reference.nix;
  ledgers = import ./ledger.nix;
  resources = import ./resource.nix;
  stacks = import ./stack.nix;
  emitter = import ./emit.nix;
  vocabulary = import ./vocabulary.nix;
  variables = import ./variables.nix;

  optional = condition: attrs: if condition then attrs else { };

  isInstances =
    value:
    builtins.isAttrs value
    && internal._kind value == null
    && value != { }
    && builtins.all resources.isDeclared (attrValues value);

  idOf =
    place: value:
    if resources.isDeclared value then
      value.id
    else if isString value && !(builtins.hasContext value) then
      value
    else if isInstances value then
      throw "nivis.plan: ${place} is a set of instances; give one of them, or, for all, the id without a key: \"<provider>.<type>.<name>\""
    else
      throw "nivis.plan: ${place} is ${internal._describe value}; give a resource or its id";

  # Entries of `moved`, `removed` and `imports`: each of `fields` read by its function, all there but those that are `optional`.
  readEntries =
    name: optional: fields: entries:
    let
      check = internal._checkArgs {
        function = "plan";
        noun = "'${name}' attribute";
        allowed = builtins.attrNames fields;
        required = builtins.attrNames (removeAttrs fields optional);
      };
      read = entry: mapAttrs (field: value: fields.${field} "'${field}' in '${name}'" value) (check entry);
    in
    if builtins.isList entries then
      map read entries
    else
      throw "nivis.plan: '${name}' is ${internal._describe entries}; write a list";

  readBool =
    place: value:
    if isBool value then
      value
    else
      throw "nivis.plan: ${place} is ${internal._describe value}; write true or false";

  # The id of an import is walked like a configuration.
  readImportId =
    place: value:
    let
      kind = internal._kind value;
      isTree = isString value || builtins.isAttrs value && kind == null || kind == "ref" || kind == "derive";
    in
    if isTree then
      value
    else
      throw "nivis.plan: ${place} is ${internal._describe value}; write a string, an output, or a set that is an identity";

  readMoved = readEntries "moved" [ ] {
    from = idOf;
    to = idOf;
  };
  readRemoved = readEntries "removed" [ "destroy" ] {
    from = idOf;
    destroy = readBool;
  };
  readImports = readEntries "imports" [ ] {
    to = idOf;
    id = readImportId;
  };

  # The same resources whatever the outputs are; checked where the ledger asks for a comparison.
  sameIds =
    p: w:
    let
      only = filter (id: !(w.byId ? ${id})) (attrNames p.byId);
    in
    if only == [ ] then
      attrNames w.byId == attrNames p.byId
    else
      throw "nivis.plan: whether '${builtins.head only}' is declared depends on an output in a way that Nix lost track of; list it always";

  # Only the elements with these ids: the executor knows the others.
  assemblePart =
    versions: ids:
    let
      inherit (versions) p;
      emit = emitter versions;
      wanted = listToAttrs (
        map (name: {
          inherit name;
          value = null;
        }) ids
      );
      declared = attrValues (intersectAttrs wanted p.byId);
      entry = d: emit.resource (versions.w.byId.${d.id} or { }) d;
      kind = name: map entry (filter (d: internal._kind d == name) declared);
      managed = kind "resource";
      data = kind "data";
      ephemeral = kind "ephemeral";
      calls = kind "call";
      providerIds = filter (id: wanted ? "provider.${id}") (attrNames p.providers);
      providers = map (name: {
        inherit name;
        value = emit.provider name p.providers.${name};
      }) providerIds;
      outputNames = filter (name: wanted ? "output.${name}") (attrNames p.outputs);
      outputs = map (name: emit.output name p.outputs.${name}) outputNames;
      irs = map (entry: entry.ir);
    in
    {
      part = {
        providers = mapAttrs (_: entry: entry.ir) (listToAttrs providers);
        resources = irs managed;
        dataSources = irs data;
        ephemeral = irs ephemeral;
        calls = irs calls;
        edges = concatMap (entry: entry.edges) (
          map (entry: entry.value) providers ++ managed ++ data ++ ephemeral ++ calls ++ outputs
        );
        nixConsumers = irs outputs;
      };
    };

  assemble =
    versions:
    let
      inherit (versions) p w;
      emit = emitter versions;
      providers = mapAttrs emit.provider p.providers;
      # The same entry with witnesses is in the same place. If it is not, strings are no concatenation, which is right, only slow.
      entries =
        name:
        let
          entry = i: emit.resource (if i < length w.${name} then elemAt w.${name} i else { }) (elemAt p.${name} i);
        in
        genList entry (length p.${name});
      data = entries "data";
      ephemeral = entries "ephemeral";
      calls = entries "calls";
      managed = entries "resources";
      parts = map emit.part p.parts;
      outputs = attrValues (mapAttrs emit.output p.outputs);
      checks = attrValues (mapAttrs emit.check p.checks);
      imported = readImports p.imports;
      imports = genList (i: emit.import i (elemAt imported i)) (length imported);
      irs = map (entry: entry.ir);
    in
    # Ids are unique, even if nothing looks one up.
    builtins.seq (if versions.ledger ? compare then sameIds p w else p.byId) {
      schemaVersion = 1;
      providers = mapAttrs (_: entry: entry.ir) providers;
      resources = irs managed;
      edges = concatMap (entry: entry.edges) (
        attrValues providers ++ data ++ ephemeral ++ calls ++ managed ++ parts ++ outputs ++ imports
      );
      nixConsumers = irs outputs;
    }
    // optional (versions.variables.ir != { }) { variables = versions.variables.ir; }
    // optional (data != [ ]) { dataSources = irs data; }
    // optional (ephemeral != [ ]) { ephemeral = irs ephemeral; }
    // optional (calls != [ ]) { calls = irs calls; }
    // optional (p.backend != null) { backend = emit.static "backend" p.backend; }
    // optional (parts != [ ]) { deferred = irs parts; }
    // optional (checks != [ ]) { inherit checks; }
    // optional (p.moved != [ ]) { moved = readMoved p.moved; }
    // optional (p.removed != [ ]) { removed = readRemoved p.removed; }
    // optional (p.imports != [ ]) { imports = irs imports; };
in
{
  # `ledger` is the ledger as a value, `author` the stack's function.
  make =
    ledger: author:
    let
      # The declarations are a part of what the function gives, and their values one of its arguments: they are looked at
      # one by one, so that only a declaration that uses its own value is a circle.
      vars = variables.read (ledger.vars or { }) p.variables;
      evaluate =
        textOf:
        stacks.read (author {
          n = vocabulary.make { inherit ledger textOf; };
          vars = vars.of textOf;
        });
      p = evaluate reference.placeholder;
      # Known references are their values.
      known =
        id:
        let
          unknown = reference.exact id;
        in
        {
          textOf =
            code: path:
            let
              ref = {
                resource = id;
                inherit path;
              };
              found = ledgers.look ledger ref;
            in
            if found.state == "known" then ledgers.text ref found.value else unknown.textOf code path;
        };
    in
    if !(isFunction author) then
      throw "nivis.plan: expected a function, got ${internal._describe author}; write `plan ({ n, ... }: { resources = …; })`"
    else
      (if ledger ? only then versions: assemblePart versions ledger.only else assemble) {
        inherit ledger p;
        variables = vars;
        w = evaluate reference.witness;
        exact = evaluate reference.exact;
        l = evaluate known;
      };
}
