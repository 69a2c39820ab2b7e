{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (n.derive (a.ref "names") (names: n.forEach names (name: _: make "node" { })))
      (make "b" { x = n.ref "p.t.node__x" "id"; })
    ];
  };
}
