{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.forEach [ 1 ] (key: _: make "b" { });
  };
}
