{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    outputs.x = "${derivation {
      name = "x";
      system = "x86_64-linux";
      builder = "/bin/sh";
    }}/${a.ref "id"}";
  };
}
