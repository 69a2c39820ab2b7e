{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.count "3" (_: make "b" { });
  };
}
