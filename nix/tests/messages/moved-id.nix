{ n, provider, make, a, ... }:
{
  stack = {
    moved = [
      {
        from = 1;
        to = a;
      }
    ];
  };
}
