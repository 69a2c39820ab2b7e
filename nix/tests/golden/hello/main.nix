# One provider, one resource, one output: the shape of a whole document.
(import ../../../lib).plan (
  { n, ... }:
  let
    random = n.provider {
      id = "random";
      source = "hashicorp/random";
      version = "~> 3.6";
    };
    host = n.resource {
      provider = random;
      type = "random_pet";
      name = "host";
      config.length = 2;
    };
  in
  {
    providers = [ random ];
    resources = [ host ];
    outputs.name = host.ref "id";
  }
)
