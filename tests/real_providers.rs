//! Real provider plugins, of the old SDK and of the framework, in both protocols: apply, an empty second plan, change,
//! replace, destroy.

use crate::support::{Workspace, real_provider};

/// Nix that puts the plugins of these names in scope; `None` if one is not built.
fn plugins(names: &[&str]) -> Option<String> {
    let bind = |name: &&str| {
        let path = serde_json::Value::from(real_provider(name)?.to_str()?);
        Some(format!(
            "{name} = n.provider {{ id = \"{name}\"; source = {path}; }};\n"
        ))
    };
    names.iter().map(bind).collect()
}

/// Applies, plans again, which must find nothing, and destroys.
#[track_caller]
fn comes_and_goes(workspace: &Workspace, objects: usize) {
    let added = format!("Apply complete: {objects} added, 0 changed, 0 destroyed.");
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says(&added);
    workspace
        .run_stack("plan", &[])
        .success()
        .says("No changes.");
    let destroyed = format!("Destroy complete: 0 added, 0 changed, {objects} destroyed.");
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success()
        .says(&destroyed);
}

#[test]
fn random() {
    let Some(plugins) = plugins(&["random"]) else {
        return;
    };
    let workspace = Workspace::new();
    workspace.stack(&format!(
        r#"let
          {plugins}
          make = type: name: config: n.resource {{ provider = random; inherit type name config; }};
          pet = make "random_pet" "pet" {{ length = 2; keepers.a = "x"; }};
        in {{
          resources = [
            pet
            (make "random_id" "id" {{ byte_length = 4; prefix = pet.ref "id"; }})
            (make "random_integer" "integer" {{ min = 1; max = 9; keepers.pet = "${{pet.ref "id"}}!"; }})
            (make "random_password" "password" {{ length = 20; override_special = "_"; }})
            (make "random_shuffle" "shuffle" {{ input = [ "a" "b" "c" ]; result_count = 2; }})
            (make "random_string" "string" {{ length = 8; special = false; }})
            (make "random_uuid" "uuid" {{ }})
          ];
        }}"#
    ));
    comes_and_goes(&workspace, 7);
    assert_eq!(
        workspace.evaluations(),
        3,
        "one per command, and none for references"
    );
}

#[test]
fn time_and_tls() {
    let Some(plugins) = plugins(&["time", "tls"]) else {
        return;
    };
    let workspace = Workspace::new();
    workspace.stack(&format!(
        r#"let
          {plugins}
          make = provider: type: name: config: n.resource {{ inherit provider type name config; }};
          start = make time "time_static" "start" {{ }};
          key = make tls "tls_private_key" "key" {{ algorithm = "ECDSA"; ecdsa_curve = "P256"; }};
        in {{
          resources = [
            start
            key
            (make time "time_offset" "week" {{ base_rfc3339 = start.ref "rfc3339"; offset_days = 7; }})
            (make time "time_rotating" "rotation" {{ rotation_days = 30; }})
            (make time "time_sleep" "nap" {{ create_duration = "10ms"; triggers.start = start.ref "id"; }})
            (make tls "tls_self_signed_cert" "certificate" {{
              private_key_pem = key.ref "private_key_pem";
              validity_period_hours = 12;
              allowed_uses = [ "server_auth" "client_auth" ];
              dns_names = [ "b.example" "a.example" ];
              subject = [ {{ common_name = "a.example"; }} ];
            }})
          ];
          outputs.until = "until ${{start.ref "rfc3339"}}";
        }}"#
    ));
    comes_and_goes(&workspace, 6);
}

#[test]
fn a_secret_of_a_provider_is_shown_nowhere() {
    let Some(plugins) = plugins(&["tls"]) else {
        return;
    };
    let workspace = Workspace::new();
    workspace.stack(&format!(
        r#"let
          {plugins}
          key = n.resource {{ provider = tls; type = "tls_private_key"; name = "key"; config.algorithm = "ED25519"; }};
        in {{ resources = [ key ]; }}"#
    ));
    let secret = "PRIVATE KEY";
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .is_silent_about(secret);
    workspace
        .run_stack("show", &[])
        .success()
        .is_silent_about(secret);
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success()
        .is_silent_about(secret);
}

#[test]
fn local_of_the_old_sdk() {
    let Some(plugins) = plugins(&["local", "random"]) else {
        return;
    };
    let workspace = Workspace::new();
    let stack = |content: &str, name: &str| {
        let folder = workspace.path("made");
        workspace.stack(&format!(
            r#"let
              {plugins}
              pet = n.resource {{ provider = random; type = "random_pet"; name = "pet"; config = {{ }}; }};
              file = n.resource {{
                provider = local; type = "local_file"; name = "file";
                config = {{ filename = "{}/{name}"; content = "{content} ${{pet.ref "id"}}"; file_permission = "0640"; }};
              }};
            in {{ resources = [ pet file ]; }}"#,
            folder.display()
        ));
    };
    let made = |name: &str| std::fs::read_to_string(workspace.path("made").join(name)).ok();
    stack("one", "a");
    workspace.run_stack("apply", &["--auto-approve"]).success();
    workspace
        .run_stack("plan", &[])
        .success()
        .says("No changes.");
    let first = made("a").unwrap();
    assert!(first.starts_with("one "), "{first}");

    // This provider replaces a file for whatever changes.
    stack("two", "b");
    let replaced = "Apply complete: 1 added, 0 changed, 1 destroyed.";
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says(replaced);
    assert_eq!(made("b").unwrap(), first.replace("one", "two"));
    assert_eq!(made("a"), None);

    // What somebody removed is made again.
    std::fs::remove_file(workspace.path("made/b")).unwrap();
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says("1 added, 0 changed, 0 destroyed");
    assert_eq!(made("b").unwrap(), first.replace("one", "two"));
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success();
    assert_eq!(made("b"), None);
}

#[test]
fn nested_attributes_of_the_framework() {
    let Some(plugins) = plugins(&["framework"]) else {
        return;
    };
    let workspace = Workspace::new();
    let stack = |size: u32, name: &str| {
        workspace.stack(&format!(
            r#"let
              {plugins}
              shape = name: config: n.resource {{ provider = framework; type = "framework_shape"; inherit name config; }};
            in {{
              resources = [
                (shape "bare" {{ name = "bare"; }})
                (shape "empty" {{ name = "empty"; points = [ ]; tags = [ ]; limits = {{ }}; rule = [ ]; }})
                (shape "full" {{
                  name = "{name}";
                  size = {size};
                  secret = "hidden-from-all";
                  any = {{ list = [ 1 "two" null 0.1 ]; }};
                  origin.x = 1.5;
                  points = [ {{ x = 1; }} {{ x = 2; y = 3; }} ];
                  tags = [ {{ key = "b"; value = "v"; }} {{ key = "a"; }} ];
                  limits = {{ one.low = 1; two = {{ low = 2; high = 7; }}; }};
                  rule = [ {{ port = 80; }} {{ port = 443; note = "tls"; }} ];
                }})
              ];
            }}"#
        ));
    };
    stack(3, "full");
    comes_and_goes(&workspace, 3);

    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .is_silent_about("hidden-from-all");
    stack(4, "full");
    let changed = "Apply complete: 0 added, 1 changed, 0 destroyed.";
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says(changed);
    stack(4, "renamed");
    let replaced = "Apply complete: 1 added, 0 changed, 1 destroyed.";
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says(replaced);
    workspace
        .run_stack("plan", &[])
        .success()
        .says("No changes.");
}
