# What is taken over and let go of: instances, whole resources, ids from outputs, identities.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    make =
      name: config:
      n.resource {
        type = "t";
        inherit provider name config;
      };
    a = make "a" { };
    b = make "b" { };
    web = n.forEach [ "x" "y" ] (key: _: make "web" { inherit key; });
  in
  {
    resources = [
      a
      b
      web
    ];
    moved = [
      {
        from = "p.t.old";
        to = web.x;
      }
      {
        from = "p.t.site";
        to = "p.t.web";
      }
    ];
    removed = [
      { from = "p.t.gone"; }
      {
        from = "p.t.burnt";
        destroy = true;
      }
    ];
    imports = [
      {
        to = b;
        id = "in/${a.ref "id"}";
      }
      {
        to = web.x;
        id = {
          region = "eu";
          name = a.ref "name";
        };
      }
      {
        to = web.y;
        id = n.derive { id = a.ref "id"; } ({ id }: builtins.substring 0 3 id);
      }
    ];
  }
)
