# The IR of a stack: its function evaluated three times, joined entry by entry. docs/IR-CONTRACT.md is the shape.
let
  inherit (builtins)
    attrValues
    concatMap
    isBool
    isFunction
    isString
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

  optional = condition: attrs: if condition then attrs else { };

  idOf =
    place: value:
    if resources.isDeclared value then
      value.id
    else if isString value && !(builtins.hasContext value) then
      value
    else
      throw "nivis.plan: ${place} is ${internal._describe value}; give a resource or its id";

  # Entries of `moved`, `removed` and `imports`: all of `fields`, each read by its function.
  readEntries =
    name: fields: entries:
    let
      names = builtins.attrNames fields;
      check = internal._checkArgs {
        function = "plan";
        noun = "'${name}' attribute";
        allowed = names;
        required = names;
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

  readText =
    place: value:
    if isString value && !(builtins.hasContext value) then
      value
    else
      throw "nivis.plan: ${place} is ${internal._describe value}; write a plain string";

  readMoved = readEntries "moved" {
    from = idOf;
    to = idOf;
  };
  readRemoved = readEntries "removed" {
    from = idOf;
    destroy = readBool;
  };
  readImports = readEntries "imports" {
    to = idOf;
    id = readText;
  };

  assemble =
    versions:
    let
      inherit (versions) p;
      emit = emitter versions;
      providers = mapAttrs emit.provider p.providers;
      data = map emit.resource p.data;
      ephemeral = map emit.resource p.ephemeral;
      calls = map emit.resource p.calls;
      managed = map emit.resource p.resources;
      outputs = attrValues (mapAttrs emit.output p.outputs);
      irs = map (entry: entry.ir);
    in
    # Ids are unique, even if nothing looks one up.
    builtins.seq p.byId {
      schemaVersion = 1;
      providers = mapAttrs (_: entry: entry.ir) providers;
      resources = irs managed;
      edges = concatMap (entry: entry.edges) (attrValues providers ++ data ++ ephemeral ++ calls ++ managed ++ outputs);
      nixConsumers = irs outputs;
    }
    // optional (data != [ ]) { dataSources = irs data; }
    // optional (ephemeral != [ ]) { ephemeral = irs ephemeral; }
    // optional (calls != [ ]) { calls = irs calls; }
    // optional (p.backend != null) { backend = emit.static "backend" p.backend; }
    // optional (p.moved != [ ]) { moved = readMoved p.moved; }
    // optional (p.removed != [ ]) { removed = readRemoved p.removed; }
    // optional (p.imports != [ ]) { imports = readImports p.imports; };
in
{
  # `ledger` is the ledger as a value, `author` the stack's function.
  make =
    ledger: author:
    let
      vars = ledger.vars or { };
      evaluate =
        textOf:
        stacks.read (author {
          n = vocabulary.make { inherit ledger textOf; };
          inherit vars;
        });
      known =
        key: code:
        let
          ref = reference.decode key;
          found = ledgers.look ledger ref;
        in
        if found.state == "known" then ledgers.text ref found.value else reference.placeholder key code;
    in
    if !(isFunction author) then
      throw "nivis.plan: expected a function, got ${internal._describe author}; write `plan ({ n, ... }: { resources = …; })`"
    else
      assemble {
        inherit ledger;
        p = evaluate reference.placeholder;
        w = evaluate reference.witness;
        l = evaluate known;
      };
}
