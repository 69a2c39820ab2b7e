# The provider with which Terraform tests itself: it keeps values and does nothing.
{
  n,
  plugin,
  steps,
  provider ? "simple",
  ...
}:
let
  simple = plugin provider { };
  thing =
    name: value:
    n.resource {
      provider = simple;
      type = "simple_resource";
      inherit name;
      config = { inherit value; };
    };
  first = thing "first" (steps [
    "one"
    "two"
  ]);
  read = n.data {
    provider = simple;
    type = "simple_resource";
    name = "read";
    config.value = first.ref "value";
  };
in
{
  data = [ read ];
  resources = [
    first
    (thing "second" "after ${read.ref "value"}")
    (thing "nothing" null)
  ];
  outputs.id = read.ref "id";
}
