//! `nivis state list`, `show`, `mv`, `rm`, `pull`, `push`: for one who knows what they are doing.

use serde_json::{Value as Json, json};

use crate::support::{Output, Workspace, fake_provider};

/// A stack with `a`, and `web` for `x` and `y`, applied.
fn workspace() -> Workspace {
    let workspace = Workspace::with_fake();
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: n.resource {{ provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }}; }};
        in {{ resources = [ (thing "a") (n.forEach [ "x" "y" ] (_: _: thing "web")) ]; }}"#
    ));
    workspace.run_stack("apply", &["--auto-approve"]).success();
    workspace
}

fn state(workspace: &Workspace, args: &[&str]) -> Output {
    workspace.run([&["state"], args, &["--file", "stack.nix"]].concat())
}

/// What `nivis state pull` prints, to the byte.
fn pulled(workspace: &Workspace) -> String {
    let mut pull = workspace.command(["state", "pull", "--file", "stack.nix"]);
    String::from_utf8(pull.output().unwrap().stdout).unwrap()
}

fn listed(workspace: &Workspace) -> String {
    let listed = state(workspace, &["list"]).success().stdout;
    listed.replace("fake.fake_thing.", "").replace('\n', " ")
}

#[test]
fn resources_are_chosen_by_id_by_instances_and_by_pattern() {
    let workspace = workspace();
    for (only, expected) in [
        (&["fake.fake_thing.a"][..], &["a"][..]),
        (&["fake.fake_thing.web"], &["web__x", "web__y"]),
        (&["*__y", "fake.fake_thing.a"], &["a", "web__y"]),
        (&["fake.*"], &["a", "web__x", "web__y"]),
    ] {
        let flags = only.iter().flat_map(|id| ["--only", id]);
        let args: Vec<&str> = ["list"].into_iter().chain(flags).collect();
        let lines: String = expected
            .iter()
            .map(|name| format!("fake.fake_thing.{name}\n"))
            .collect();
        assert_eq!(state(&workspace, &args).success().stdout, lines);
    }
    state(
        &workspace,
        &["list", "--only", "fake.fake_thing.wep", "--only", "b*"],
    )
    .exits(1)
    .says("no resource `fake.fake_thing.wep`")
    .says("no resource `b*`");

    workspace
        .run(["taint", "fake.fake_thing.web__x", "--file", "stack.nix"])
        .success();
    let listed = state(&workspace, &["list", "--json", "--only", "*x"])
        .success()
        .json();
    let expected = json!([{
        "id": "fake.fake_thing.web__x", "provider": "fake", "type": "fake_thing", "name": "web__x",
        "index": "x", "status": "tainted", "deposed": [],
    }]);
    assert_eq!(listed, expected);

    let shown = state(&workspace, &["show", "fake.fake_thing.web", "--json"])
        .success()
        .json();
    let resources = shown["values"]["root_module"]["resources"]
        .as_array()
        .unwrap();
    assert_eq!(resources.len(), 2);
    assert_eq!(resources[0]["values"]["name"], "web");
    let text = state(&workspace, &["show", "*__y"]).success();
    text.says("web").is_silent_about("(tainted)");
}

#[test]
fn a_dry_run_changes_nothing() {
    let workspace = workspace();
    state(
        &workspace,
        &["rm", "*__x", "fake.fake_thing.a", "--dry-run"],
    )
    .success()
    .says("would forget fake.fake_thing.a\nwould forget fake.fake_thing.web__x\n");
    state(
        &workspace,
        &[
            "mv",
            "fake.fake_thing.web",
            "fake.fake_thing.site",
            "--dry-run",
        ],
    )
    .success()
    .says("would move fake.fake_thing.web__y to fake.fake_thing.site__y\n");
    assert_eq!(listed(&workspace), "a web__x web__y ");
    state(&workspace, &["rm", "*__x", "fake.fake_thing.gone"]).exits(1);
    assert_eq!(listed(&workspace), "a web__x web__y ");
    state(&workspace, &["rm", "*__x", "fake.fake_thing.a"]).success();
    assert_eq!(listed(&workspace), "web__y ");
}

#[test]
fn a_pulled_state_is_pushed_if_it_is_a_later_one() {
    let workspace = workspace();
    let whole = pulled(&workspace);
    let push = |state: &Json, flags: &[&str]| {
        workspace.write("pushed.json", &state.to_string());
        self::state(&workspace, &[&["push", "pushed.json"], flags].concat())
    };
    let present: Json = serde_json::from_str(&whole).unwrap();
    push(&present, &[])
        .success()
        .says("The state is this one already.");

    let mut edited = present.clone();
    edited["resources"]
        .as_object_mut()
        .unwrap()
        .remove("fake.fake_thing.a");
    push(&edited, &[])
        .exits(1)
        .says("State would lose changes")
        .says("does not follow serial");
    let serial = present["serial"].as_u64().unwrap();
    edited["serial"] = json!(serial + 1);
    push(&edited, &[])
        .success()
        .says(&format!("serial {}", serial + 1));
    assert_eq!(listed(&workspace), "web__x web__y ");

    push(&present, &[]).exits(1);
    push(&present, &["--force"])
        .success()
        .says(&format!("serial {}", serial + 2));
    assert_eq!(listed(&workspace), "a web__x web__y ");
    let mut foreign = present.clone();
    foreign["lineage"] = json!("11111111-2222-4333-8444-555555555555");
    foreign["serial"] = json!(serial + 100);
    push(&foreign, &[]).exits(1).says("does not follow serial");
    push(&json!({"version": 4}), &["--force"])
        .exits(1)
        .says("pushed.json is not a nivis state");

    let elsewhere = Workspace::with_fake();
    elsewhere.write(
        "stack.nix",
        &std::fs::read_to_string(workspace.path("stack.nix")).unwrap(),
    );
    elsewhere.write("pushed.json", &whole);
    state(&elsewhere, &["push", "pushed.json"]).success();
    assert_eq!(pulled(&elsewhere), whole);
}

#[test]
fn changes_wait_for_the_lock() {
    let workspace = workspace();
    workspace.write("pushed.json", &pulled(&workspace));
    workspace.write("faults", r#"[{"on": "plan", "do": "slow:3000"}]"#);
    let mut holder = workspace
        .command(["apply", "--auto-approve", "--file", "stack.nix"])
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begin = std::time::Instant::now();
    let refused = loop {
        let output = state(&workspace, &["push", "pushed.json"]);
        if output.code != 0 || begin.elapsed().as_secs() > 30 {
            break output;
        }
    };
    state(&workspace, &["pull"]).success();
    assert!(holder.wait().unwrap().success());
    refused.exits(1).says("State is locked");
}
