# Moments, and others some time away from them.
{
  n,
  plugin,
  steps,
  ...
}:
let
  time = plugin "time" { };
  named =
    name: type: config:
    n.resource {
      provider = time;
      type = "time_${type}";
      inherit name config;
    };
  make = type: named type type;
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
      triggers = { };
    })
    (make "rotating" {
      rfc3339 = "2020-01-01T00:00:00Z";
      rotation_years = 900;
      triggers = { };
    })
    (make "sleep" {
      create_duration = "10ms";
      triggers.id = static.ref "id";
    })
    # With what importing brings: no triggers.
    (named "moment" "static" {
      rfc3339 = "2020-02-29T12:00:00+01:00";
      triggers = { };
    })
    (named "nap" "sleep" {
      create_duration = "10ms";
      triggers = { };
    })
  ];
  outputs.until = "until ${static.ref "rfc3339"}";
}
