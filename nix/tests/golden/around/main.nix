# What stands around the resources: backend, moved, removed, imports.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    a = n.resource {
      inherit provider;
      type = "t";
      name = "a";
    };
  in
  {
    resources = [ a ];
    backend = {
      type = "local";
      path = "state";
    };
    moved = [
      {
        from = "p.t.old";
        to = a;
      }
    ];
    removed = [
      {
        from = "p.t.gone";
        destroy = false;
      }
    ];
    imports = [
      {
        to = a;
        id = "i-123";
      }
    ];
  }
)
