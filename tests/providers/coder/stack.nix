# A workspace as Coder's templates describe it, with blocks in sets in blocks. All of it is replaced when it changes.
{
  n,
  plugin,
  steps,
  provider ? "coder",
  ...
}:
let
  coder = plugin provider { url = "https://coder.example"; };
  make =
    type: name: config:
    n.resource {
      provider = coder;
      inherit type name config;
    };
  workspace = n.data {
    provider = coder;
    type = "coder_workspace";
    name = "me";
  };
  agent = make "coder_agent" "main" {
    os = "linux";
    arch = "amd64";
    env.GREETING = "hello \${USER}";
    startup_script = "echo ${workspace.ref "name"}";
    metadata = [
      {
        key = "load";
        script = "cut -d ' ' -f 1 /proc/loadavg";
        interval = 10;
      }
    ];
    resources_monitoring = [
      {
        memory = [
          {
            enabled = true;
            threshold = 80;
          }
        ];
        volume = [
          {
            path = "/b";
            enabled = false;
            threshold = 90;
          }
          {
            path = "/a";
            enabled = true;
            threshold = 70;
          }
        ];
      }
    ];
  };
in
{
  data = [ workspace ];
  resources = [
    agent
    (make "coder_env" "editor" {
      agent_id = agent.ref "id";
      name = "EDITOR";
      value = steps [
        "vi"
        "ed"
      ];
    })
    (make "coder_script" "start" {
      agent_id = agent.ref "id";
      display_name = "Start";
      script = "true";
      run_on_start = true;
    })
    (make "coder_metadata" "notes" {
      resource_id = agent.ref "id";
      item = [
        {
          key = "with a value";
          value = workspace.ref "template_name";
        }
        { key = "without"; }
        {
          key = "secret";
          value = "s";
          sensitive = true;
        }
      ];
    })
  ];
  outputs.workspace = workspace.ref "name";
}
