{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    imports = [
      {
        to = a;
        id = {
          name = n.sensitive "x";
        };
      }
    ];
  };
}
