# Nested attributes of every mode, with defaults and computed parts, and an attribute of any type.
{
  n,
  plugin,
  steps,
  ...
}:
let
  framework = plugin "framework" { };
  shape =
    name: config:
    n.resource {
      provider = framework;
      type = "framework_shape";
      inherit name config;
    };
in
{
  resources = [
    (shape "bare" { name = "bare"; })
    (shape "empty" {
      name = "empty";
      points = [ ];
      tags = [ ];
      limits = { };
      rule = [ ];
    })
    (shape "full" {
      name = steps [
        "full"
        "full"
        "renamed"
      ];
      size = steps [
        3
        4
      ];
      secret = "hidden";
      any = {
        list = [
          1
          "two"
          null
          0.1
        ];
      };
      origin.x = 1.5;
      points = [
        { x = 1; }
        {
          x = 2;
          y = 3;
        }
      ];
      tags = [
        {
          key = "b";
          value = "v";
        }
        { key = "a"; }
      ];
      limits = {
        one.low = 1;
        two = {
          low = 2;
          high = 7;
        };
      };
      rule = [
        { port = 80; }
        {
          port = 443;
          note = "tls";
        }
      ];
    })
  ];
}
