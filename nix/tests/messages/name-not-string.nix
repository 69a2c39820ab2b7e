{ n, provider, make, a, ... }:
{
  stack = {
    resources = make 1 { };
  };
}
