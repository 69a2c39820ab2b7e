{ n, provider, make, a, ... }:
{
  stack = {
    resources = [ a ];
    checks = [
      (n.check {
        name = "strong";
        condition = n.deriveSensitive (a.ref "secret") (secret: builtins.stringLength secret > 8);
        message = "the secret is short";
      })
    ];
  };
}
