{ n, provider, make, a, ... }:
{
  ledger.compare = true;
  stack.resources = [
    a
    (make "b" {
      same = "x-${a.ref "id"}";
      hash.of = [ (builtins.hashString "sha256" "${a.ref "id"}") ];
    })
  ];
}
