{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = 0.12345678901; })
    ];
  };
}
