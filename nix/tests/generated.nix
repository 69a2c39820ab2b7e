# A stack made from a seed, evaluated with ledgers that know nothing, a part and all: `{ first; part; all; }`.
#
# Throws if the documents do not fit together: edges, references and templates are the same whatever the ledger knows, and
# with everything known nothing is left for Nix.
{ seed }:
let
  lib = import ../lib;

  # A number below `limit` for each name, by chance.
  pick =
    name: limit:
    let
      digits = builtins.substring 0 7 (builtins.hashString "sha256" "${seed}/${name}");
      value = (builtins.fromTOML "x = 0x${digits}").x;
    in
    value - value / limit * limit;
  choose = name: list: builtins.elemAt list (pick name (builtins.length list));

  size = 1 + pick "size" 12;
  oddNames = [
    "a"
    "a.b"
    "é \"x\""
    "\${y}"
    "__ref"
    "0"
    "z!"
  ];
  nameOf = i: "${choose "name ${toString i}" oddNames}${toString i}";
  paths = [
    "id"
    "a.b"
    [
      "net"
      0
      "ip"
    ]
    [
      "tags"
      "k \"!\" \\"
    ]
  ];
  outputs = i: {
    id = "id ${toString i} \"é\"";
    "a.b" = i;
    net = [ { ip = "10.0.0.${toString i}"; } ];
    tags."k \"!\" \\" = "tag";
  };

  stack =
    { n, ... }:
    let
      provider = n.provider {
        id = "p.q";
        source = "builtin";
      };
      all = builtins.genList (
        i:
        n.resource {
          inherit provider;
          type = "t";
          name = nameOf i;
          # Only earlier resources are used, so that there is no cycle.
          config = builtins.listToAttrs (
            builtins.genList (k: {
              name = choose "key ${toString i} ${toString k}" oddNames;
              value = tree "${toString i} ${toString k}" i 3;
            }) (pick "keys ${toString i}" 6)
          );
        }
      ) size;

      refBelow = at: i: (builtins.elemAt all (pick "target ${at}" i)).ref (choose "path ${at}" paths);
      textBelow = at: i: "${choose "prefix ${at}" oddNames}${refBelow at i}${choose "suffix ${at}" oddNames}";

      leaves = [
        (_: _: null)
        (_: _: 9007199254740993)
        (_: _: 0.5)
        (at: _: choose "plain ${at}" oddNames)
        (_: _: n.sensitive "s")
        (
          _: _:
          derivation {
            name = "x";
            system = "x86_64-linux";
            builder = "/bin/sh";
          }
        )
      ];
      # There is nothing below the first resource.
      uses = [
        refBelow
        textBelow
        (at: i: "${textBelow at i}/${refBelow "${at} 2" i}")
        (at: i: builtins.toJSON { text = textBelow at i; })
        (at: i: n.derive { ref = refBelow at i; } ({ ref }: [ ref ]))
        (at: i: n.derive (n.derive (refBelow at i) (x: x)) (x: "${builtins.toJSON x}"))
      ];
      tree =
        at: i: depth:
        let
          kind = pick "kind ${at}" 10;
        in
        if depth > 0 && kind == 0 then
          builtins.genList (k: tree "${at} ${toString k}" i (depth - 1)) (pick "length ${at}" 4)
        else if depth > 0 && kind == 1 then
          { ${choose "inner ${at}" oddNames} = tree "${at} inner" i (depth - 1); }
        else
          choose "leaf ${at}" (if i == 0 || kind < 4 then leaves else uses) at i;
    in
    {
      resources = all;
      outputs.last = refBelow "last" size;
    };

  ledger = isKnown: {
    outputs = builtins.listToAttrs (
      builtins.filter (entry: isKnown entry.i) (
        builtins.genList (i: {
          name = "p.q.t.${nameOf i}";
          value = outputs i;
          inherit i;
        }) size
      )
    );
  };
  first = lib.toIR { } stack;
  part = lib.toIR (ledger (i: pick "known ${toString i}" 2 == 0)) stack;
  all = lib.toIR (ledger (_: true)) stack;

  # Leaves that wait for Nix.
  pending =
    value:
    if builtins.isList value then
      builtins.concatMap pending value
    else if !(builtins.isAttrs value) then
      [ ]
    else if value ? __derived && value.__derived ? inputs then
      if value.__derived ? template then [ ] else [ value ]
    else
      builtins.concatMap pending (builtins.attrValues value);
  # A tree without what Nix computes, which is where `first` waits: all else has to stay as it is.
  lasting =
    early: late:
    if builtins.isAttrs early && early ? __derived && !(early.__derived ? template) then
      true
    else if builtins.isAttrs early then
      builtins.attrNames early == builtins.attrNames late
      && builtins.all (name: lasting early.${name} late.${name}) (builtins.attrNames early)
    else if builtins.isList early then
      builtins.length early == builtins.length late
      && builtins.all (i: lasting (builtins.elemAt early i) (builtins.elemAt late i)) (
        builtins.genList (i: i) (builtins.length early)
      )
    else
      early == late;

  configs = ir: map (resource: resource.config) ir.resources;
  demand = condition: what: if condition then true else throw "seed ${seed}: ${what}";
in
assert demand (part.edges == first.edges && all.edges == first.edges) "edges depend on the ledger";
assert demand (lasting (configs first) (configs part) && lasting (configs first) (configs all)) "what is no computation depends on the ledger";
assert demand (pending (configs all) == [ ]) "something waits with everything known";
assert demand (
  builtins.length (pending (configs part)) <= builtins.length (pending (configs first))
) "more waits when more is known";
{
  inherit first part all;
}
