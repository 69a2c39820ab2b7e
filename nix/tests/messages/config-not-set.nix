{ n, provider, make, a, ... }:
{
  stack = {
    resources = make "b" [ ];
  };
}
