# Files, one with what is read of another, which must be read after it is written although its name is known before. This
# provider, on the first plugin SDK, replaces a file for whatever changes.
{
  n,
  plugin,
  steps,
  folder,
  ...
}:
let
  local = plugin "local" { };
  file =
    name: config:
    n.resource {
      provider = local;
      type = "local_file";
      inherit name;
      config = {
        filename = "${folder}/${name}";
      }
      // config;
    };
  first = file "first" {
    content = steps [
      "one"
      "two"
    ];
    file_permission = "0640";
  };
  secret = file "secret" { sensitive_content = "a secret"; };
  read = n.data {
    provider = local;
    type = "local_file";
    name = "read";
    config.filename = first.ref "filename";
  };
in
{
  data = [ read ];
  resources = [
    first
    secret
    (file "copy" { content = "copy of ${read.ref "content"}"; })
  ];
}
