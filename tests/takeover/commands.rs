//! `nivis import`, `taint`, `untaint`, `state mv`, `state rm`; and identities of older versions.

use std::fs;

use serde_json::json;

use super::lab::{Lab, count};

const THREE: &str = r#"let a = thing "a" { }; in {
  resources = [ a (thing "b" { value = a.ref "id"; }) (n.forEach [ "x" "y" ] (key: _: thing "web" { name = key; })) ];
}"#;

#[test]
fn a_tainted_resource_is_replaced() {
    let lab = Lab::new();
    lab.stack(THREE);
    lab.apply().success();
    let id = "fake.fake_thing.a";
    let calls = lab.calls(|| {
        lab.run(&["taint", id])
            .success()
            .says("fake.fake_thing.a is tainted")
    });
    assert!(calls.is_empty(), "{calls:?}");
    lab.run(&["taint", id]).success();
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.a is tainted, so it must be replaced");
    lab.run(&["untaint", id])
        .success()
        .says("no longer tainted");
    lab.converged();
    lab.run(&["untaint", id])
        .exits(1)
        .says("Resource is not tainted");
    for verb in ["taint", "untaint"] {
        lab.run(&[verb, "fake.fake_thing.z"])
            .exits(1)
            .says("the state has no resource `fake.fake_thing.z`")
            .says("did you mean `fake.fake_thing.a`?");
    }
    lab.run(&["taint", id]).success();
    assert_eq!(
        lab.done(|| lab.apply().success()),
        ["delete a-1", "create a-2", "update b-1"]
    );
}

#[test]
fn the_state_is_changed_under_its_lock() {
    let lab = Lab::new();
    lab.stack(THREE);
    lab.apply().success();
    let serial = |lab: &Lab| {
        let text = fs::read(lab.0.path(".nivis/stack/state.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()["serial"]
            .as_u64()
            .unwrap()
    };
    let before = serial(&lab);
    lab.run(&["taint", "fake.fake_thing.a"]).success();
    assert_eq!(serial(&lab), before + 1);
    assert!(!lab.0.path(".nivis/stack/journal.jsonl").exists());
    // Somebody else is at work.
    let lock = lab.0.path(".nivis/stack/lock");
    let mut held = lab
        .0
        .command(["apply", "--auto-approve", "--file", "stack.nix"]);
    lab.fault("plan", "slow:3000");
    let mut running = held
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !lock.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for words in [
        &["taint", "fake.fake_thing.b"][..],
        &["untaint", "fake.fake_thing.a"],
        &["state", "mv", "fake.fake_thing.a", "fake.fake_thing.c"],
        &["state", "rm", "fake.fake_thing.a"],
        &["import", "fake.fake_thing.a", "x"],
    ] {
        lab.run(words).exits(1).says("State is locked");
    }
    running.wait().unwrap();
}

#[test]
fn resources_get_other_ids() {
    let lab = Lab::new();
    lab.stack(THREE);
    lab.apply().success();
    let mv =
        |from: &str, to: &str| lab.run(&["state", "mv", &format!("fake.fake_thing.{from}"), to]);
    mv("a", "fake.fake_thing.c")
        .success()
        .says("fake.fake_thing.c has its new id.");
    mv("web", "fake.fake_thing.site").success();
    assert_eq!(
        lab.listed(),
        [
            "fake.fake_thing.b",
            "fake.fake_thing.c",
            "fake.fake_thing.site__x",
            "fake.fake_thing.site__y"
        ]
    );
    let stored = lab.stored("fake.fake_thing.site__x");
    assert_eq!(
        (&stored["name"], &stored["index"]),
        (&"site__x".into(), &"x".into())
    );
    assert_eq!(
        lab.stored("fake.fake_thing.b")["current"]["dependencies"],
        json!(["fake.fake_thing.c"])
    );
    for (from, to, expected) in [
        (
            "bb",
            "fake.fake_thing.z",
            "did you mean `fake.fake_thing.b`?",
        ),
        (
            "b",
            "fake.fake_thing.c",
            "the state has a resource `fake.fake_thing.c`",
        ),
        (
            "b",
            "fake.fake_other.b",
            "`fake.fake_thing.b` is a `fake_thing`, and `fake.fake_other.b` would be a `fake_other`",
        ),
        ("b", "nonsense", "`nonsense` is no id of a resource"),
    ] {
        mv(from, to).exits(1).says(expected);
    }
    mv("c", "fake.fake_thing.a").success();
    mv("site", "fake.fake_thing.web").success();
    lab.converged();
}

#[test]
fn resources_are_forgotten() {
    let lab = Lab::new();
    lab.stack(THREE);
    lab.apply().success();
    let rm = |ids: &[&str]| lab.run(&[&["state", "rm"], ids].concat());
    rm(&["fake.fake_thing.b", "fake.fake_thing.c"])
        .exits(1)
        .says("the state has no resource `fake.fake_thing.c`");
    assert_eq!(lab.listed().len(), 4, "all or nothing");
    let done = lab.done(|| {
        rm(&["fake.fake_thing.b", "fake.fake_thing.web"])
            .success()
            .says("fake.fake_thing.web__y is forgotten; its object stays.");
    });
    assert_eq!(done, [""; 0]);
    assert_eq!(lab.listed(), ["fake.fake_thing.a"]);
    lab.plan().exits(2).says("3 to add");
}

#[test]
fn one_object_is_imported_at_once() {
    for lab in Lab::each_protocol() {
        lab.make("x-1", &json!({"value": "v"}));
        lab.stack(
            r#"let far = n.provider { id = "far"; source = fake.source; config.region = d.ref "id"; };
              d = n.data { provider = fake; type = "fake_thing"; name = "d"; config.name = "d"; };
            in {
              resources = [ (things far "a" { name = "x-1"; value = "w"; }) (thing "b" { }) ];
              data = [ d ];
            }"#,
        );
        let calls = lab.calls(|| {
            lab.run(&["import", "far.fake_thing.a", "x-1"])
                .success()
                .says("far.fake_thing.a is imported");
        });
        // Of the rest of the stack only what the provider needs is looked at.
        for (rpc, times) in [
            ("ImportResourceState", 1),
            ("ReadResource", 1),
            ("ReadDataSource", 1),
            ("PlanResourceChange", 0),
        ] {
            assert_eq!(count(&calls, rpc), times, "{rpc}");
        }
        assert_eq!(lab.listed(), ["far.fake_thing.a"]);
        assert_eq!(
            lab.stored("far.fake_thing.a")["current"]["dependencies"],
            json!(["data.fake.fake_thing.d"])
        );
        lab.plan()
            .exits(2)
            .says("1 to add, 1 to change, 0 to destroy")
            .says("\"v\" -> \"w\"");
        lab.run(&["import", "far.fake_thing.a", "x-2"])
            .exits(1)
            .says("Resource is managed already");
        for (id, expected) in [
            ("nothing", "There is no thing nothing."),
            ("", "Invalid import id"),
        ] {
            lab.run(&["import", "fake.fake_thing.b", id])
                .exits(1)
                .says(expected);
        }
        lab.run(&["import", "fake.fake_thing.bb", "x"])
            .exits(1)
            .says("the configuration has no resource `fake.fake_thing.bb`")
            .says("did you mean `fake.fake_thing.b`?");
        assert_eq!(lab.listed(), ["far.fake_thing.a"]);
    }
}

#[test]
fn a_provider_that_waits_for_an_apply_imports_nothing() {
    let lab = Lab::new();
    lab.make("x-1", &json!({}));
    lab.stack(
        r#"let b = thing "b" { }; far = n.provider { id = "far"; source = fake.source; config.region = b.ref "id"; }; in {
          resources = [ b (things far "a" { name = "x-1"; }) ];
        }"#,
    );
    lab.run(&["import", "far.fake_thing.a", "x-1"])
        .exits(1)
        .says("Provider configuration is not known")
        .says("provider.far");
}

#[test]
fn what_has_still_to_move_is_not_imported_again() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"{ resources = [ (thing "c" { }) ]; moved = [ { from = "fake.fake_thing.a"; to = "fake.fake_thing.c"; } ]; }"#,
    );
    lab.run(&["import", "fake.fake_thing.c", "a-1"])
        .exits(1)
        .says("Resource is managed already");
}

#[test]
fn identities_of_an_older_version_are_upgraded_by_the_provider() {
    for mut lab in Lab::each_protocol() {
        lab.0.set_env("FAKE_IDENTITY_VERSION", "2");
        lab.stack(r#"{ resources = [ (thing "a" { }) ]; }"#);
        lab.apply().success();
        let version = |lab: &Lab| {
            lab.stored("fake.fake_thing.a")["current"]["identity"]["schema_version"].clone()
        };
        assert_eq!(version(&lab), 2);
        let calls = lab.calls(|| lab.converged());
        assert_eq!(count(&calls, "UpgradeResourceIdentity"), 0);
        let set = |version: u64| {
            lab.edit_state(|state| {
                state["resources"]["fake.fake_thing.a"]["current"]["identity"]["schema_version"] =
                    version.into();
            });
        };
        set(1);
        lab.fault("upgrade_identity", "absent");
        lab.plan().exits(1).says("Invalid identity transformation");
        lab.fault("", "");
        let calls = lab.calls(|| lab.apply().success());
        assert_eq!(count(&calls, "UpgradeResourceIdentity"), 1);
        assert_eq!(version(&lab), 2);
        set(3);
        lab.plan()
            .exits(1)
            .says("managed by newer provider version");
    }
}
