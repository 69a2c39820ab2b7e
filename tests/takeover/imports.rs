//! `imports`.

use serde_json::{Value, json};

use super::lab::{Lab, count};
use crate::support::real_provider;

/// A stack with the thing `a`, imported by the id that is this Nix.
fn import_of(lab: &Lab, config: &str, id: &str) {
    lab.stack(&format!(
        r#"let a = thing "a" ({{ name = "x-1"; }} // {config}); in {{
          resources = [ a (thing "b" {{ value = a.ref "id"; }}) ];
          imports = [ {{ to = a; id = {id}; }} ];
        }}"#
    ));
}

#[test]
fn an_existing_object_is_taken_over_as_it_is() {
    for lab in Lab::each_protocol() {
        lab.make("x-1", &json!({"value": "v", "password": "canary"}));
        import_of(&lab, r#"{ value = "v"; }"#, r#""x-1""#);
        let planned = || {
            lab.plan()
                .exits(2)
                .says("# fake.fake_thing.a will be imported")
                .says("# (imported by id \"x-1\")")
                .says("Plan: 1 to import, 1 to add, 0 to change, 0 to destroy.")
                .is_silent_about("canary");
        };
        let calls = lab.calls(planned);
        for (rpc, times) in [
            ("ImportResourceState", 1),
            ("ReadResource", 1),
            ("UpgradeResourceState", 0),
            ("PlanResourceChange", 2),
        ] {
            assert_eq!(count(&calls, rpc), times, "{rpc}");
        }
        let read = calls.iter().find(|c| c["rpc"] == "ReadResource").unwrap();
        assert_eq!(read["private"], "imported");

        let done = lab.done(|| {
            lab.apply()
                .success()
                .says("1 imported, 1 added, 0 changed, 0 destroyed")
        });
        assert_eq!(done, ["create b-1"]);
        let stored = lab.stored("fake.fake_thing.a");
        assert_eq!(stored["current"]["attributes"]["password"], "canary");
        assert_eq!(stored["current"]["identity"]["value"]["id"], "x-1");
        // From then on it is an object like any other, and the entry does nothing.
        let calls = lab.calls(|| lab.converged());
        assert_eq!(count(&calls, "ImportResourceState"), 0);
        let destroyed = || lab.0.run_stack("destroy", &["--auto-approve"]).success();
        assert_eq!(lab.done(destroyed), ["delete b-1", "delete x-1"]);
    }
}

#[test]
fn an_imported_object_is_changed_to_what_is_configured() {
    let lab = Lab::new();
    lab.make("x-1", &json!({"value": "old"}));
    import_of(&lab, r#"{ value = "new"; }"#, r#""x-1""#);
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.a will be updated in place")
        .says("# (imported by id \"x-1\")")
        .says("\"old\" -> \"new\"")
        .says("Plan: 1 to import, 1 to add, 1 to change, 0 to destroy.");
    // If the change fails, the object is known all the same.
    lab.fault("update", "error");
    lab.apply().exits(1);
    assert_eq!(
        lab.stored("fake.fake_thing.a")["current"]["attributes"]["value"],
        "old"
    );
    lab.fault("", "");
    assert_eq!(
        lab.done(|| lab.apply().success()),
        ["update x-1", "create b-1"]
    );
    lab.converged();
}

#[test]
fn an_imported_object_can_be_replaced() {
    let lab = Lab::new();
    lab.make("x-1", &json!({"force_new": "1"}));
    import_of(&lab, r#"{ force_new = "2"; }"#, r#""x-1""#);
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.a must be replaced")
        .says("1 to import, 2 to add, 0 to change, 1 to destroy");
    assert_eq!(
        lab.done(|| lab.apply().success()),
        ["delete x-1", "create x-1-2", "create b-1"]
    );
    lab.converged();
}

#[test]
fn objects_are_imported_by_identity() {
    for lab in Lab::each_protocol() {
        lab.make("x-1", &json!({}));
        import_of(&lab, "{ }", r#"{ id = "x-1"; }"#);
        lab.plan()
            .exits(2)
            .says(r#"# (imported by identity {"id":"x-1"})"#);
        assert_eq!(
            lab.done(|| lab.apply().success().says("1 imported")),
            ["create b-1"]
        );
        lab.converged();
    }
    let lab = Lab::new();
    for (id, expected) in [(r#"{ ident = "x-1"; }"#, "ident"), ("{ }", "id")] {
        import_of(&lab, "{ }", id);
        lab.plan().exits(1).says(expected);
    }
    lab.stack(
        r#"let
          builtin = n.provider { id = "builtin"; source = "builtin"; };
          a = n.resource { provider = builtin; type = "builtin_data"; name = "a"; config = { }; };
        in { resources = [ a ]; imports = [ { to = a; id = { id = "x"; }; } ]; }"#,
    );
    lab.plan()
        .exits(1)
        .says("objects of type `builtin_data` have no identity");
}

#[test]
fn ids_come_from_what_is_known_when_it_is_planned() {
    let lab = Lab::new();
    lab.make("data-far-1", &json!({}));
    // A data source tells it, and Nix computes with it: that takes a second evaluation.
    lab.stack(
        r#"let
          far = n.data { provider = fake; type = "fake_thing"; name = "far"; config.name = "far"; };
          a = thing "a" { name = "data-far-1"; };
        in {
          resources = [ a ]; data = [ far ];
          imports = [ { to = a; id = n.derive (far.ref "id") (id: "${id}-1"); } ];
        }"#,
    );
    let calls = lab.calls(|| lab.plan().exits(2).says("1 to import, 0 to add"));
    assert_eq!(
        count(&calls, "PlanResourceChange"),
        1,
        "not before the id was known"
    );
    assert_eq!(
        lab.done(|| lab.apply().success().says("1 imported")),
        [""; 0]
    );
    lab.converged();

    // A template of a stored output.
    lab.make("b-1-x", &json!({}));
    lab.stack(r#"{ resources = [ (thing "b" { }) ]; }"#);
    lab.run(&["state", "rm", "fake.fake_thing.a"]).success();
    let with_import = r#"let b = thing "b" { }; c = thing "c" { name = "b-1-x"; }; in {
      resources = [ b c ]; imports = [ { to = c; id = "${b.ref "id"}-x"; } ];
    }"#;
    lab.stack(with_import);
    lab.plan()
        .exits(1)
        .says("Invalid import id")
        .says("it depends on values that only an apply will tell")
        .says("fake.fake_thing.c");
    lab.stack(r#"{ resources = [ (thing "b" { }) ]; }"#);
    lab.apply().success();
    lab.stack(with_import);
    lab.plan().exits(2).says("# (imported by id \"b-1-x\")");
    lab.apply().success().says("1 imported");
    lab.converged();
}

#[test]
fn what_cannot_be_imported_is_an_error() {
    let lab = Lab::new();
    lab.make("x-1", &json!({}));
    for (id, fault, expected) in [
        (r#""nothing""#, ("", ""), "There is no thing nothing."),
        (r#""""#, ("", ""), "it is empty"),
        (
            r#""x-1""#,
            ("import", "several"),
            "the provider gave objects of the types `fake_thing`, `fake_thing`",
        ),
        (
            r#""x-1""#,
            ("import", "other_type"),
            "it was asked for a `fake_thing` and gave a `fake_other`",
        ),
        (
            r#""x-1""#,
            ("import", "null"),
            "Import returned null resource",
        ),
        (
            r#""x-1""#,
            ("import", "wrong_type"),
            "Provider produced invalid object",
        ),
        (r#""x-1""#, ("import", "error"), "Told to fail"),
        (r#""x-1""#, ("import", "unavailable"), "unavailable"),
        (
            r#""x-1""#,
            ("read", "null"),
            "Cannot import non-existent remote object",
        ),
        (r#""x-1""#, ("read", "error"), "Told to fail"),
    ] {
        import_of(&lab, "{ }", id);
        lab.fault(fault.0, fault.1);
        lab.plan()
            .exits(1)
            .says(expected)
            .says("with fake.fake_thing.a");
        let done = lab.done(|| lab.apply().exits(1).says(expected));
        assert_eq!(done, [""; 0]);
    }
    lab.fault("", "");
    // The id is shown, so it must not be a secret.
    lab.stack(
        r#"let a = thing "a" { }; b = thing "b" { }; in {
          resources = [ a b ]; imports = [ { to = a; id = b.ref "password"; } ];
        }"#,
    );
    lab.plan().exits(1).says("it is sensitive");
    lab.stack(r#"{ resources = [ (thing "web" { }) ]; imports = [ { to = "fake.fake_thing.wbe"; id = "x"; } ]; }"#);
    lab.plan()
        .exits(1)
        .says("did you mean 'fake.fake_thing.web'?");
}

#[test]
fn a_real_provider_gives_its_object() {
    let Some(random) = real_provider("random") else {
        return;
    };
    let lab = Lab::new();
    let source = Value::from(random.to_str().unwrap());
    let stack = |id: &str| {
        lab.0.stack(&format!(
            r#"let
              random = n.provider {{ id = "random"; source = {source}; }};
              make = type: name: config: n.resource {{ provider = random; inherit type name config; }};
              uuid = make "random_uuid" "uuid" {{ }};
              word = make "random_string" "word" {{ length = 8; }};
            in {{
              resources = [ uuid word ];
              imports = [ {{ to = uuid; id = "{id}"; }} {{ to = word; id = "abcdefgh"; }} ];
            }}"#
        ));
    };
    stack("not-a-uuid");
    lab.plan().exits(1).says("random.random_uuid.uuid");
    let id = "f4d4b1a6-6d5f-4c3b-9d2e-0a1b2c3d4e5f";
    stack(id);
    // This provider imports `keepers` as an empty map, where nothing is configured.
    lab.plan()
        .exits(2)
        .says("# random.random_string.word will be imported")
        .says("Plan: 2 to import, 0 to add, 1 to change, 0 to destroy.");
    lab.apply()
        .success()
        .says("2 imported, 0 added, 1 changed, 0 destroyed");
    assert_eq!(
        lab.stored("random.random_uuid.uuid")["current"]["attributes"]["result"],
        id
    );
    lab.converged();
}
