# The provider with which OpenTofu tests itself: values for the provider alone, and objects with identities.
{
  n,
  plugin,
  steps,
  ...
}:
let
  tofu = plugin "tofu6" { i_depend_on = "nothing"; };
  thing =
    name: config:
    n.resource {
      provider = tofu;
      type = "simple_resource";
      inherit name config;
    };
  first = thing "first" {
    value = steps [
      "one"
      "two"
    ];
    value_wo = "for the provider alone";
  };
  read = n.data {
    provider = tofu;
    type = "simple_resource";
    name = "read";
    config.value = first.ref "value";
  };
in
{
  data = [ read ];
  resources = [
    first
    (thing "second" { value = "after ${read.ref "value"}"; })
    (thing "nothing" { })
  ];
  outputs.id = read.ref "id";
}
