# Providers: listed or implied by a resource, as a package, a path or an address, configured by outputs.
(import ../../../lib).plan (
  { n, ... }:
  let
    package = derivation {
      name = "provider";
      system = "x86_64-linux";
      builder = "/bin/sh";
    };
    cloud = n.provider {
      id = "cloud";
      source = package;
      config = {
        region = "eu";
        ca = "${package}/ca.pem";
      };
    };
    cluster = n.resource {
      provider = cloud;
      type = "cloud_cluster";
      name = "main";
    };
    kubernetes = n.provider {
      id = "kubernetes";
      source = n.drvFile package "bin/kubernetes";
      config = {
        host = cluster.ref "endpoint";
        token = n.derive { name = cluster.ref "name"; } ({ name }: "t-${name}");
        nested.url = "https://${cluster.ref "endpoint"}/";
      };
    };
  in
  {
    providers = [
      cloud
      (n.provider {
        id = "unused";
        source = "example/unused";
        version = ">= 1.0";
        meta.module = "web";
      })
      { again = cloud; }
      (n.provider {
        id = "local";
        source = ./provider;
      })
    ];
    resources = [
      cluster
      (n.resource {
        provider = kubernetes;
        type = "kubernetes_namespace";
        name = "app";
      })
    ];
  }
)
