# A place for secrets, one that is there, and who may read it, in a part of Vault.
{
  n,
  plugin,
  steps,
  server,
  ...
}:
let
  vault = plugin "vault" {
    address = server;
    token = "token";
  };
  make =
    type: name: config:
    n.resource {
      provider = vault;
      type = "vault_${type}";
      inherit name config;
    };
  mount = make "mount" "kv" {
    path = "kv";
    type = "kv";
    description = "secrets";
    default_lease_ttl_seconds = steps [
      null
      3600
    ];
  };
  login = make "generic_secret" "login" {
    path = "${mount.ref "path"}/${
      steps [
        "login"
        "login"
        "other"
      ]
    }";
    data_json = steps [
      ''{"user": "tester", "tries": 3}''
      ''{"tries": 4, "user": "tester"}''
    ];
  };
  read = n.data {
    provider = vault;
    type = "vault_generic_secret";
    name = "read";
    config.path = login.ref "path";
  };
in
{
  data = [ read ];
  resources = [
    mount
    login
    (make "policy" "reader" {
      name = "reader";
      policy = ''path "${read.ref "path"}" { capabilities = ["read"] } # ${read.ref "data_json"}'';
    })
  ];
}
