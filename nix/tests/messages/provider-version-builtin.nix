{ n, ... }:
{
  stack = {
    providers = [
      (n.provider {
        id = "x";
        source = "builtin";
        version = "~> 3.6";
      })
    ];
  };
}
