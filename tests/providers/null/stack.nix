# Nothing at all, and what hangs on it. This provider is of the time when the plugin SDK was a part of Terraform.
{
  n,
  plugin,
  steps,
  ...
}:
let
  nothing = plugin "null" { };
  first = n.resource {
    provider = nothing;
    type = "null_resource";
    name = "first";
    config.triggers.revision = steps [
      1
      2
    ];
  };
  read = n.data {
    provider = nothing;
    type = "null_data_source";
    name = "read";
    config.inputs = {
      id = first.ref "id";
      text = "text";
    };
  };
in
{
  data = [ read ];
  resources = [
    first
    (n.resource {
      provider = nothing;
      type = "null_resource";
      name = "second";
      config.triggers.first = read.ref [
        "outputs"
        "id"
      ];
    })
  ];
  outputs.text = read.ref [
    "outputs"
    "text"
  ];
}
