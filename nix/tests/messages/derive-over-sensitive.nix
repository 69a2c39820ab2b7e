{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.derive (n.deriveSensitive (a.ref "id") (id: id)) (id: id); })
    ];
  };
}
