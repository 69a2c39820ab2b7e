# Sensitive values: marked in the configuration, made by deriveSensitive, and behind __sensitiveRef in the ledger.
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
    db = make "db" { };
    hash = n.deriveSensitive { password = db.ref "password"; } (
      { password }: builtins.hashString "sha256" password
    );
  in
  {
    resources = [
      db
      (make "app" {
        marked = n.sensitive "hunter2";
        tree = n.sensitive {
          user = db.ref "user";
          port = 1;
        };
        "a.b" = n.sensitive true;
        reference = db.ref "password";
        url = "postgres://${db.ref "user"}:${db.ref "password"}@db/";
        inherit hash;
        open = n.deriveSensitive { user = db.ref "user"; } ({ user }: "user:${user}");
        # Looks at the part that is not secret.
        part = n.derive { login = db.ref "login"; } ({ login }: login.user);
        twice = n.deriveSensitive { inherit hash; } ({ hash }: hash + hash);
      })
    ];
    outputs = {
      marked = n.sensitive (db.ref "password");
      inside.list = [ (n.sensitive 1) ];
      said = {
        value = db.ref "password";
        sensitive = true;
        description = "The password.";
      };
    };
  }
)
