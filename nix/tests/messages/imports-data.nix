{ n, provider, make, a, ... }:
{
  stack = {
    data = n.data {
      inherit provider;
      type = "t";
      name = "d";
    };
    imports = [
      {
        to = "data.p.t.d";
        id = "x";
      }
    ];
  };
}
