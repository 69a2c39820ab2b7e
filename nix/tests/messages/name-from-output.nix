{ n, provider, make, a, ... }:
{
  stack = {
    resources = [
      a
      (make "b-${a.ref "id"}" { })
    ];
  };
}
