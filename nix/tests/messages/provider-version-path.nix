{ n, ... }:
{
  stack = {
    providers = [
      (n.provider {
        id = "x";
        source = ./.;
        version = "~> 3.6";
      })
    ];
  };
}
