{ n, ... }:
{
  stack = {
    providers = [
      (n.provider {
        id = "x";
        source = "hashicorp/random";
        version = 3;
      })
    ];
  };
}
