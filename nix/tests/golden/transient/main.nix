# An ephemeral resource feeds a provider and a write-only attribute; a function's result is used as any output.
(import ../../../lib).plan (
  { n, ... }:
  let
    vault = n.provider {
      id = "vault";
      source = "/opt/vault";
    };
    web = n.provider {
      id = "web";
      source = "/opt/web";
      config.header = "Bearer ${login.ref "token"}";
    };
    login = n.ephemeral {
      provider = vault;
      type = "vault_login";
      name = "now";
      config.user = "anna";
    };
    site = n.resource {
      provider = web;
      type = "web_site";
      name = "main";
      config.password_wo = login.ref "token";
    };
    joined = n.call {
      provider = vault;
      function = "join";
      name = "joined";
      arguments = [
        "-"
        (site.ref "id")
        "id:${site.ref "id"}"
        { deep = [ null 1.5 ]; }
      ];
      meta.dependsOn = [ site ];
    };
  in
  {
    data = [
      login
      joined
    ];
    resources = [ site ];
    outputs.joined = joined.ref [
      "result"
      0
    ];
  }
)
