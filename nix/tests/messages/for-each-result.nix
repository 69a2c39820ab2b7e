{ n, provider, make, a, ... }:
{
  stack = {
    resources = n.forEach [ "x" ] (_: _: [ (make "b" { }) ]);
  };
}
