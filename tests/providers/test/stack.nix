# The provider with which the plugin SDK was tested while it was a part of Terraform: everything that makes hosts stumble.
{
  n,
  plugin,
  steps,
  ...
}:
let
  test = plugin "test" { label = "first"; };
  make =
    type: name: config:
    n.resource {
      provider = test;
      type = "test_resource" + (if type == "" then "" else "_" + type);
      inherit name config;
    };
  plain = make "" "plain" {
    required = "yes";
    required_map.key = "value";
    optional = steps [
      null
      "set"
    ];
    set = [
      "b"
      "a"
    ];
    list_of_map = [
      { a = "1"; }
      {
        b = "2";
        c = "3";
      }
    ];
    optional_force_new = "a";
    int = 3;
  };
  read = n.data {
    provider = test;
    type = "test_data_source";
    name = "read";
    config = {
      input = "x${plain.ref "computed_read_only"}";
      input_map.key = plain.ref "id";
    };
  };
in
{
  data = [ read ];
  resources = [
    plain
    (make "map" "map" {
      name = "map";
      map_of_three = {
        one = "one";
        two = plain.ref "planned_computed";
        empty = "";
      };
      map_values.listed = plain.ref [
        "computed_list"
        1
      ];
    })
    (make "defaults" "defaults" { nested = [ { optional = "given"; } { } ]; })
    (make "force_new" "forced" { triggers.hash = plain.ref "computed_from_required"; })
    (make "nested" "nested" {
      optional = steps [
        null
        null
        true
      ];
      nested = [
        {
          string = "a";
          nested_again = [
            { string = "x"; }
            { string = "y"; }
          ];
        }
        { optional = true; }
      ];
    })
    (make "list_set" "sets" {
      list = [
        {
          set = [
            { elem = "b"; }
            {
              elem = steps [
                "a"
                "c"
              ];
            }
          ];
        }
      ];
      replication_configuration = [
        {
          role = "role";
          rules = [
            {
              id = "rule";
              status = "on";
              destination = [
                {
                  bucket = "bucket";
                  access_control_translation = [ { owner = "owner"; } ];
                }
              ];
              filter = [ { tags.a = "b"; } ];
            }
          ];
        }
      ];
    })
    (make "config_mode" "attributes" {
      resource_as_attr = [
        { foo = "a"; }
        { foo = "b"; }
      ];
      nested_set = [
        {
          value = "v";
          set = [
            "2"
            "1"
          ];
        }
      ];
    })
    (make "config_mode" "none" { resource_as_attr = [ ]; })
    (make "state_func" "function" { optional = "data"; })
    # Without what importing does not bring and makes the provider replace an object.
    (make "" "found" {
      required = "yes";
      required_map.key = "value";
    })
    (make "defaults" "found" { })
    (make "force_new" "found" { })
    (make "nested" "found" { })
  ];
  outputs.read = read.ref "output_map";
}
