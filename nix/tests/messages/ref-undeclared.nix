{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.ref "p.t.aa" "id"; })
    ];
  };
}
