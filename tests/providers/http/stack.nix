# Pages of a server, one named by the content of the other. This provider has data sources alone; what was read is kept by
# another one.
{
  n,
  plugin,
  steps,
  server,
  ...
}:
let
  http = plugin "http" { };
  page =
    name: url:
    n.data {
      provider = http;
      type = "http";
      inherit name;
      config = {
        inherit url;
        request_headers.Accept = "application/json";
      };
    };
  first = page "first" "${server}/${
    steps [
      "one"
      "two"
    ]
  }";
  second = page "second" "${server}/about?${first.ref "body"}";
in
{
  data = [
    first
    second
  ];
  resources = [
    (n.resource {
      provider = plugin "null" { };
      type = "null_resource";
      name = "kept";
      config.triggers = {
        first = first.ref "body";
        second = second.ref "body";
        type = first.ref [
          "response_headers"
          "Content-Type"
        ];
      };
    })
  ];
  outputs.body = second.ref "body";
}
