{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    outputs.x = "see ${derivation {
      name = "x";
      system = "x86_64-linux";
      builder = "/bin/sh";
    }}";
  };
}
