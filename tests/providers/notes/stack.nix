# Notes of a provider in Python, one of them with what another one says.
{
  n,
  plugin,
  steps,
  folder,
  ...
}:
let
  notes = plugin "notes" { folder = "${folder}/notes"; };
  note =
    name: config:
    n.resource {
      provider = notes;
      type = "notes_note";
      inherit name config;
    };
  first = note "first" {
    name = "first";
    lines = steps [
      [ "one" ]
      [
        "one"
        "two"
      ]
    ];
    labels = [
      "b"
      "a"
    ];
    numbers = {
      half = 0.5;
      large = 9007199254740991;
    };
  };
  found = n.data {
    provider = notes;
    type = "notes_found";
    name = "found";
    config.name = first.ref "name";
  };
in
{
  data = [ found ];
  resources = [
    first
    (note "second" {
      name = steps [
        "second"
        "second"
        "renamed"
      ];
      lines = found.ref "lines";
      color = "blue";
    })
  ];
  outputs.lines = found.ref "lines";
}
