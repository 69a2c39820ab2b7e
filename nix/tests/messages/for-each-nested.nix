{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.forEach [ "x" ] (
      _: _: (n.forEach [ "y" ] (_: _: make "b" { })).y
    );
  };
}
