//! Values that flow back into Nix: what is applied when, and how often Nix is evaluated for it. Evaluations are counted by
//! a wrapper around Nix, not by nivis.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Output, Workspace, fake_provider, real_provider};

/// A program that is the fake provider in one protocol; gives the Nix text of its path.
fn fake(workspace: &Workspace, protocol: u32) -> String {
    let name = format!("fake{protocol}");
    let path = workspace.path(&name);
    let text = format!(
        "#!/bin/sh\nFAKE_PROTOCOL={protocol} exec {:?} \"$@\"\n",
        fake_provider()
    );
    workspace.write(&name, &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    serde_json::Value::from(path.to_str().unwrap()).to_string()
}

/// Two fake providers, `five` and `six`, in scope of `body`.
fn two_protocols(workspace: &mut Workspace, body: &str) {
    let (five, six) = (fake(workspace, 5), fake(workspace, 6));
    workspace.set_env("FAKE_CALLS", workspace.path("calls"));
    workspace.set_env("FAKE_RECORD", workspace.path("record"));
    workspace.stack(&format!(
        r#"let
          five = n.provider {{ id = "five"; source = {five}; }};
          six = n.provider {{ id = "six"; source = {six}; }};
          thing = provider: name: config: n.resource {{
            inherit provider name; type = "fake_thing"; config = {{ inherit name; }} // config;
          }};
        in {body}"#
    ));
}

/// Names of things in the order of their lines with this `op` in the record.
fn recorded(workspace: &Workspace, op: &str) -> Vec<String> {
    let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    let lines = text
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
    let of_op = lines.filter(|l| l["op"] == op);
    of_op
        .map(|l| {
            l["id"]
                .as_str()
                .unwrap()
                .split('-')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[track_caller]
fn evaluations(workspace: &Workspace, expected: usize, run: impl FnOnce() -> Output) -> Output {
    let before = workspace.evaluations();
    let output = run();
    assert_eq!(
        workspace.evaluations() - before,
        expected,
        "evaluations\n{output}"
    );
    output
}

#[test]
fn computed_hops_over_two_protocols() {
    let mut workspace = Workspace::new();
    two_protocols(
        &mut workspace,
        r#"let
          a = thing five "a" { value = "x"; };
          b = thing six "b" { value = n.derive { id = a.ref "id"; } ({ id }: "b of ${id}"); };
          c = thing five "c" {
            value = n.derive { a = a.ref "id"; b = b.ref "id"; } ({ a, b }: builtins.toJSON { inherit a b; });
          };
        in {
          resources = [ a b c ];
          outputs.both = n.derive { a = a.ref "id"; b = b.ref "id"; } ({ a, b }: { inherit a b; });
        }"#,
    );
    evaluations(&workspace, 1, || workspace.run_stack("plan", &[]).success());
    let applied = evaluations(&workspace, 3, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    applied
        .says("Apply complete: 3 added, 0 changed, 0 destroyed.")
        .says("phase 3");
    assert_eq!(recorded(&workspace, "create"), ["a", "b", "c"]);

    let output = workspace.run_stack("output", &["--json"]).success().json();
    assert_eq!(
        output["both"]["value"],
        serde_json::json!({ "a": "a-1", "b": "b-1" })
    );
    let shown = workspace
        .run(["state", "show", "five.fake_thing.c", "--file", "stack.nix"])
        .success();
    shown.says("b-1");

    let converged = evaluations(&workspace, 1, || {
        workspace.run_stack("plan", &["--detailed-exitcode"])
    });
    converged.success().says("No changes");
    evaluations(&workspace, 1, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });

    evaluations(&workspace, 1, || {
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success()
    })
    .says("Destroy complete: 0 added, 0 changed, 3 destroyed.");
    assert_eq!(recorded(&workspace, "delete"), ["c", "b", "a"]);
    assert_eq!(
        workspace
            .run(["state", "list", "--file", "stack.nix"])
            .success()
            .stdout,
        ""
    );
}

#[test]
fn plain_references_and_interpolations_of_any_depth_need_one_evaluation() {
    let mut workspace = Workspace::new();
    two_protocols(
        &mut workspace,
        r#"let
          link = previous: i:
            let own = thing (if i - i / 2 * 2 == 0 then five else six) "n${toString i}" (
              if previous == [ ] then { value = "start"; }
              else if i - i / 3 * 3 == 0 then { value = (builtins.head previous).ref "echo"; }
              else { value = "${toString i}/${(builtins.head previous).ref "id"}"; });
            in [ own ] ++ previous;
        in { resources = builtins.foldl' link [ ] (builtins.genList (i: i) 24); }"#,
    );
    let applied = evaluations(&workspace, 1, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    applied.says("24 added");
    evaluations(&workspace, 1, || {
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
    });
    let order = recorded(&workspace, "create");
    assert_eq!(order, (0..24).map(|i| format!("n{i}")).collect::<Vec<_>>());
}

#[test]
fn a_changed_input_of_a_computed_value_reaches_it() {
    let mut workspace = Workspace::new();
    let body = |value: &str| {
        format!(
            r#"let
              a = thing six "a" {{ value = "{value}"; force_new = "{value}"; }};
              b = thing five "b" {{ value = n.derive {{ e = a.ref "echo"; i = a.ref "id"; }} ({{ e, i }}: e + "+" + i); }};
            in {{ resources = [ a b ]; outputs.b = b.ref "value"; }}"#
        )
    };
    two_protocols(&mut workspace, &body("one"));
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let raw = |workspace: &Workspace| {
        workspace
            .run_stack("output", &["--name", "b", "--raw"])
            .success()
            .stdout
    };
    assert_eq!(raw(&workspace), "ONE+a-1");

    two_protocols(&mut workspace, &body("two"));
    let planned = workspace.run_stack("plan", &[]).success();
    planned
        .says("must be replaced")
        .says("(known after apply)")
        .says("1 to add, 1 to change, 1 to destroy");
    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says("1 added, 1 changed, 1 destroyed");
    assert_eq!(raw(&workspace), "TWO+a-2");
    evaluations(&workspace, 1, || {
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
    });
}

#[test]
fn a_data_source_is_read_in_plan_and_what_is_derived_from_it_is_known_there() {
    let mut workspace = Workspace::new();
    two_protocols(
        &mut workspace,
        r#"let
          found = n.data { provider = six; type = "fake_thing"; name = "found"; config.name = "there"; };
          a = thing five "a" { value = n.derive { n = found.ref "name"; } ({ n }: "saw ${n}"); };
        in { resources = [ a ]; data = [ found ]; }"#,
    );
    let planned = evaluations(&workspace, 2, || workspace.run_stack("plan", &[]).success());
    planned.says("saw there");
    evaluations(&workspace, 2, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    evaluations(&workspace, 1, || {
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
    });
}

#[test]
fn what_is_slow_delays_only_values_of_the_same_depth() {
    let mut workspace = Workspace::new();
    two_protocols(
        &mut workspace,
        r#"let
          slow = thing five "slow" { };
          a = thing five "a" { };
          b = thing six "b" { value = n.derive (a.ref "id") (id: "b of ${id}"); };
          c = thing five "c" { value = n.derive (b.ref "id") (id: "c of ${id}"); };
        in { resources = [ slow a b c ]; }"#,
    );
    workspace.set_env("FAKE_FAULTS", workspace.path("faults"));
    workspace.write(
        "faults",
        r#"[{"on": "create", "match": {"name": "slow"}, "do": "slow:6000"}]"#,
    );
    evaluations(&workspace, 3, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    assert_eq!(recorded(&workspace, "create"), ["a", "b", "c", "slow"]);

    // Something computed from it: one evaluation for both, and so one after the other.
    two_protocols(
        &mut workspace,
        r#"let
          slow = thing five "slow" { force_new = "again"; };
          a = thing five "a" { force_new = "again"; };
          b = thing six "b" { value = n.derive (a.ref "id") (id: "b of ${id}"); };
          d = thing five "d" { value = n.derive (slow.ref "id") (id: "d of ${id}"); };
        in { resources = [ slow a b d ]; }"#,
    );
    evaluations(&workspace, 3, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    assert_eq!(recorded(&workspace, "update"), ["b"]);
    let created = recorded(&workspace, "create");
    assert_eq!(created[4..], ["a", "slow", "d"]);
}

#[test]
fn a_value_may_turn_out_to_refer_to_what_is_made_later() {
    let mut workspace = Workspace::new();
    two_protocols(
        &mut workspace,
        r#"let
          a = thing five "a" { };
          b = thing six "b" { value = n.derive (a.ref "id") (id: "b of ${id}"); };
          c = thing five "c" { value = n.derive (b.ref "id") (id: "c of ${id}"); };
          d = thing six "d" { value = n.derive (a.ref "id") (id: if id == "a-1" then c.ref "id" else id); };
        in { resources = [ a b c d ]; outputs.d = d.ref "value"; }"#,
    );
    evaluations(&workspace, 3, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    assert_eq!(recorded(&workspace, "create"), ["a", "b", "c", "d"]);
    let output = workspace
        .run_stack("output", &["--name", "d", "--raw"])
        .success();
    assert_eq!(output.stdout, "c-1");
    evaluations(&workspace, 1, || {
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
    });
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success();
    assert_eq!(recorded(&workspace, "delete"), ["d", "c", "b", "a"]);
}

#[test]
fn hostile_values_survive_interpolation_and_derive() {
    let mut workspace = Workspace::new();
    let hostile = r#"q\"\\ \${x} \n\t é ☃ {\"__ref\":1}"#;
    two_protocols(
        &mut workspace,
        &format!(
            r#"let
              a = thing six "a" {{ value = "{hostile}"; }};
              b = thing five "b" {{ value = "<${{a.ref "value"}}>"; tags = {{ "k.${{"$"}}{{x}}" = a.ref "value"; }}; }};
              c = thing six "c" {{ value = n.derive {{ v = b.ref "value"; }} ({{ v }}: v); }};
            in {{ resources = [ a b c ]; outputs = {{ a = a.ref "value"; c = c.ref "value"; }}; }}"#
        ),
    );
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let raw = |name| {
        workspace
            .run_stack("output", &["--name", name, "--raw"])
            .success()
            .stdout
    };
    assert_eq!(raw("c"), format!("<{}>", raw("a")));
    assert!(raw("a").contains("☃ {\"__ref\":1}"));
    evaluations(&workspace, 1, || {
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
    });
}

#[test]
fn real_providers_of_both_protocols_hand_values_to_each_other() {
    let (Some(random), Some(tls)) = (real_provider("random"), real_provider("tls")) else {
        return;
    };
    let workspace = Workspace::new();
    let path = |p: &std::path::Path| serde_json::Value::from(p.to_str().unwrap()).to_string();
    workspace.stack(&format!(
        r#"let
          random = n.provider {{ id = "random"; source = {}; }};
          tls = n.provider {{ id = "tls"; source = {}; }};
          pet = n.resource {{ provider = random; type = "random_pet"; name = "host"; config.length = 2; }};
          key = n.resource {{ provider = tls; type = "tls_private_key"; name = "key"; config.algorithm = "ED25519"; }};
          cert = n.resource {{
            provider = tls; type = "tls_self_signed_cert"; name = "cert";
            config = {{
              private_key_pem = key.ref "private_key_pem";
              validity_period_hours = 12;
              allowed_uses = [ "server_auth" ];
              dns_names = [ "${{pet.ref "id"}}.example.org" ];
              subject = [ {{ common_name = n.derive {{ p = pet.ref "id"; }} ({{ p }}: builtins.replaceStrings [ "-" ] [ "_" ] p); }} ];
            }};
          }};
        in {{ resources = [ pet key cert ]; outputs.url = "https://${{pet.ref "id"}}.example.org"; }}"#,
        path(&random),
        path(&tls),
    ));
    let planned = evaluations(&workspace, 1, || workspace.run_stack("plan", &[]).success());
    planned.says("3 to add").says("(known after apply)");
    let applied = evaluations(&workspace, 2, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    });
    applied.is_silent_about("PRIVATE KEY");
    evaluations(&workspace, 1, || {
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
    });
    let shown = workspace.run_stack("show", &[]).success();
    shown
        .says("(sensitive value)")
        .is_silent_about("BEGIN PRIVATE KEY");
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success()
        .says("3 destroyed");
}
