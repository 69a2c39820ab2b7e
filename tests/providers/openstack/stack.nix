# Projects, one in another, and a role, in a part of OpenStack's identity service.
{
  n,
  plugin,
  steps,
  server,
  ...
}:
let
  openstack = plugin "openstack" {
    auth_url = "${server}/v3";
    user_name = "tester";
    password = "secret";
    tenant_name = "tests";
    domain_name = "Default";
    region = "here";
  };
  make =
    type: name: config:
    n.resource {
      provider = openstack;
      inherit type name config;
    };
  parent = make "openstack_identity_project_v3" "parent" {
    name = "parent";
    description = steps [
      "first"
      "second"
    ];
  };
  child = make "openstack_identity_project_v3" "child" {
    name = "child";
    parent_id = parent.ref "id";
    enabled = false;
  };
in
{
  resources = [
    parent
    child
    (make "openstack_identity_role_v3" "role" {
      name = "role of ${child.ref "id"}";
      domain_id = "default";
    })
  ];
}
