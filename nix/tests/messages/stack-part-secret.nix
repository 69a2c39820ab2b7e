{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (n.deriveSensitive (a.ref "names") (_: [ ]))
    ];
  };
}
