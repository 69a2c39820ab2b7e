{ n, provider, make, a, ... }:
{
  stack = {
    resources = a;
    imports = [
      {
        to = "p.t.b";
        id = "x";
      }
    ];
  };
}
