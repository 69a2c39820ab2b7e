{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b" { x = "${a.ref "k-${a.ref "key"}"}"; })
    ];
  };
}
