{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.forEach [ "x" "y" "x" ] (key: _: make "b" { });
  };
}
