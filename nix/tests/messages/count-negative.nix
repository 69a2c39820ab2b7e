{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.count (-1) (_: make "b" { });
  };
}
