{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (n.forEach (a.ref "names") (key: _: make key { }))
    ];
  };
}
