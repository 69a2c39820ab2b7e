{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (n.derive (a.ref "names") (names: [ ]))
    ];
  };
}
