# References as leaves: outputs of resources and data sources, nested paths, by value and by id.
(import ../../../lib).plan (
  { n, ... }:
  let
    net = n.provider {
      id = "net";
      source = "builtin";
    };
    zone = n.data {
      provider = net;
      type = "net_zone";
      name = "main";
      config.name = "example.org";
    };
    host = n.resource {
      provider = net;
      type = "net_host";
      name = "host";
      config.zone = zone.ref "id";
    };
    record = n.resource {
      provider = net;
      type = "net_record";
      name = "record";
      config = {
        address = host.ref [
          "interfaces"
          0
          "ip"
        ];
        tag = n.ref "net.net_host.host" [
          "tags"
          "a.b"
        ];
        all = [
          (host.ref "id")
          { zone = n.ref "data.net.net_zone.main" "id"; }
        ];
      };
    };
  in
  {
    resources = { inherit host record; };
    data = [ zone ];
  }
)
