# forEach and count expand here; each instance is a resource of its own.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    web =
      n.forEach
        {
          a = 1;
          "b.c d" = 2;
          _x__y = 3;
        }
        (
          key: size:
          n.resource {
            inherit provider;
            type = "t_web";
            name = "web";
            config = { inherit key size; };
          }
        );
    zone = n.forEach [ "eu" "us" ] (
      key: _:
      n.data {
        inherit provider;
        type = "t_zone";
        name = "zone";
        config.name = key;
      }
    );
    worker = n.count 2 (
      index:
      n.resource {
        inherit provider;
        type = "t_worker";
        name = "worker";
        config = {
          name = "w${toString index}";
          web = web.a.ref "id";
          zone = zone.eu.ref "id";
        };
        meta.dependsOn = [
          web
          zone.us
        ];
      }
    );
  in
  {
    resources = {
      frontend = { inherit web; };
      backend = [ worker ];
    };
    data = zone;
    outputs = {
      webs = builtins.mapAttrs (_: instance: instance.ref "id") web;
      workers = map (instance: "${instance.ref "id"}") worker;
      none = n.count 0 (_: throw "no instance");
    };
  }
)
