# Which resources there are depends on outputs: parts of the stack that are declared once these are known.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    make =
      name: config:
      n.resource {
        type = "t";
        inherit provider name config;
      };
    net = make "net" { };
    zone = n.data {
      type = "zone";
      name = "one";
      inherit provider;
    };
    nodes = n.derive { zones = net.ref "zones"; } (
      { zones }:
      n.forEach zones (
        key: size:
        make "node" {
          inherit size;
          net = net.ref "id";
          label = "${key}-${net.ref "id"}";
        }
      )
    );
  in
  {
    resources = {
      inherit net nodes;
      # A part in a part: one disk for each slot that a node turns out to have.
      disks = n.derive { inherit nodes; } (
        { nodes }:
        builtins.mapAttrs (
          key: node:
          n.derive (node.ref "slots") (
            slots: n.count slots (_: make "disk-${key}" { node = node.ref "id"; })
          )
        ) nodes
      );
      none = [ [ (n.derive (net.ref "zones") (_: [ ])) ] ];
      balancer = make "balancer" {
        # Before the nodes are known this waits for what they wait for, then it refers to them.
        backends = n.derive { inherit nodes; } ({ nodes }: map (node: node.ref "id") (builtins.attrValues nodes));
      };
    };
    data = [
      zone
      (n.derive [ (zone.ref "more") ] (
        more:
        map (
          name:
          n.data {
            type = "zone";
            inherit name provider;
          }
        ) (builtins.head more)
      ))
    ];
    outputs.slots = n.derive { inherit nodes; } ({ nodes }: builtins.mapAttrs (_: node: node.ref "slots") nodes);
  }
)
