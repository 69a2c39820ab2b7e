{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.forEach 3 (key: _: make key { });
  };
}
