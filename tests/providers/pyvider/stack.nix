# Files and a folder, by a provider in Python that shares no code with the others.
{
  n,
  plugin,
  steps,
  folder,
  ...
}:
let
  pyvider = plugin "pyvider" { };
  make =
    type: name: config:
    n.resource {
      provider = pyvider;
      inherit type name config;
    };
  directory = make "pyvider_local_directory" "directory" { path = "${folder}/directory"; };
  file = make "pyvider_file_content" "file" {
    filename = "${directory.ref "path"}/file";
    content = steps [
      ''{"greeting": "hello"}''
      ''{"greeting": "good morning"}''
    ];
  };
  query = n.data {
    provider = pyvider;
    type = "pyvider_lens_jq";
    name = "greeting";
    config = {
      json_input = file.ref "content";
      query = ".greeting";
    };
  };
in
{
  data = [ query ];
  resources = [
    directory
    file
    (make "pyvider_file_content" "copy" {
      filename = "${folder}/copy";
      content = "hash: ${file.ref "content_hash"}";
    })
    # Its value is for the provider alone, and in no state.
    (make "pyvider_secret_note" "note" {
      name = "note";
      secret_value = "a secret of ${directory.ref "path"}";
      secret_version = steps [
        "1"
        "2"
      ];
    })
  ];
  outputs.greeting = query.ref "result";
}
