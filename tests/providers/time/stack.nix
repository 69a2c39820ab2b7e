# Moments, and others some time away from them.
{
  n,
  plugin,
  steps,
  ...
}:
let
  time = plugin "time" { };
  make =
    type: config:
    n.resource {
      provider = time;
      type = "time_${type}";
      name = type;
      inherit config;
    };
  static = make "static" {
    rfc3339 = "2020-02-29T12:00:00Z";
    triggers.revision = steps [
      "a"
      "a"
      "b"
    ];
  };
in
{
  resources = [
    static
    (make "offset" {
      base_rfc3339 = static.ref "rfc3339";
      offset_days = steps [
        7
        8
      ];
    })
    (make "rotating" {
      rfc3339 = "2020-01-01T00:00:00Z";
      rotation_years = 900;
    })
    (make "sleep" {
      create_duration = "10ms";
      triggers.id = static.ref "id";
    })
  ];
  outputs.until = "until ${static.ref "rfc3339"}";
}
