{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.derive (a.ref "id") "x"; })
    ];
  };
}
