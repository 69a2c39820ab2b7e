# One of each.
{
  n,
  plugin,
  steps,
  ...
}:
let
  random = plugin "random" { };
  named =
    name: type: config:
    n.resource {
      provider = random;
      type = "random_${type}";
      inherit name config;
    };
  make = type: named type type;
  pet = make "pet" {
    length = steps [
      2
      2
      3
    ];
    keepers.a = "x";
  };
in
{
  resources = [
    pet
    (make "id" {
      byte_length = 4;
      prefix = "p";
    })
    (make "integer" {
      min = 7;
      max = 7;
      keepers.pet = "${pet.ref "id"}!";
    })
    (make "password" {
      length = 20;
      override_special = "_";
    })
    (make "shuffle" {
      input = [
        "a"
        "b"
        "c"
      ];
      result_count = 2;
      seed = "seed";
    })
    (make "string" {
      length = 8;
      special = false;
      min_lower = steps [
        0
        2
      ];
    })
    (make "uuid" { })
    # Without what importing does not bring.
    (named "plain" "integer" {
      min = 7;
      max = 7;
      seed = "seed";
    })
    (named "plain" "password" { length = 20; })
    (named "plain" "string" { length = 8; })
  ];
}
