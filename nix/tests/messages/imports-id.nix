{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    imports = [
      {
        to = a;
        id = 3;
      }
    ];
  };
}
