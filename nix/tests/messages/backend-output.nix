{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    backend.path = "${a.ref "id"}";
  };
}
