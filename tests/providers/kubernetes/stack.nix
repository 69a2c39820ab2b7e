# A namespace and what is in it, in a part of the Kubernetes API.
{
  n,
  plugin,
  steps,
  server,
  ...
}:
let
  kubernetes = plugin "kubernetes" {
    host = server;
    load_config_file = false;
  };
  make =
    type: name: config:
    n.resource {
      provider = kubernetes;
      type = "kubernetes_${type}";
      inherit name config;
    };
  namespace = make "namespace" "shop" {
    metadata = [
      {
        name = "shop";
        labels.team = "sales";
        annotations."example.org/owner" = steps [
          "ann"
          "bob"
        ];
      }
    ];
  };
  metadata = name: [
    {
      inherit name;
      namespace = namespace.ref [
        "metadata"
        0
        "name"
      ];
    }
  ];
  settings = make "config_map" "settings" {
    metadata = metadata "settings";
    data = steps [
      {
        color = "red";
        "old.conf" = "";
      }
      {
        color = "blue";
        "new.conf" = "a = 1\n";
      }
    ];
  };
  read = n.data {
    provider = kubernetes;
    type = "kubernetes_config_map";
    name = "read";
    config.metadata = metadata (
      settings.ref [
        "metadata"
        0
        "name"
      ]
    );
  };
in
{
  data = [ read ];
  resources = [
    namespace
    settings
    (make "secret" "login" {
      metadata = metadata "login";
      type = steps [
        "Opaque"
        "Opaque"
        "example.org/login"
      ];
      data = {
        user = "tester";
        password = "a secret";
      };
    })
    (make "role" "reader" {
      metadata = metadata "reader";
      rule = [
        {
          api_groups = [ "" ];
          resources = [ "pods" ];
          resource_names = [ "one" ];
          verbs = [
            "get"
            "list"
          ];
        }
        {
          api_groups = [ "apps" ];
          resources = [ "deployments" ];
          verbs = [ "get" ];
        }
      ];
    })
  ];
  outputs.color = read.ref [
    "data"
    "color"
  ];
}
