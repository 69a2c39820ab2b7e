{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = n.derive {
          id = a.ref "id";
          size = 3;
        } (x: x); })
    ];
  };
}
