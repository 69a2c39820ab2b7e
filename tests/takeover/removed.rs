//! `removed`.

use std::fs;

use serde_json::Value;

use super::lab::{Lab, count};
use crate::support::fake_provider;

#[test]
fn what_is_let_go_of_stays_in_the_world() {
    for lab in Lab::each_protocol() {
        lab.stack(r#"{ resources = [ (thing "a" { password = "hunter22"; }) (thing "b" { }) ]; }"#);
        lab.apply().success();
        lab.stack(
            r#"{ resources = [ (thing "b" { }) ]; removed = [ { from = "fake.fake_thing.a"; } ]; }"#,
        );
        let calls = lab.calls(|| {
            lab.plan()
                .exits(2)
                .says("# fake.fake_thing.a will no longer be managed; the object stays")
                .says("\"a-1\"")
                .says("Plan: 0 to add, 0 to change, 0 to destroy, 1 to forget.")
                .is_silent_about("hunter22");
        });
        assert_eq!(count(&calls, "ReadResource"), 1, "of `b` alone");
        let done = lab.done(|| lab.apply().success().says("0 destroyed, 1 forgotten"));
        assert_eq!(done, [""; 0]);
        assert_eq!(lab.listed(), ["fake.fake_thing.b"]);
        lab.converged();
    }
}

#[test]
fn what_is_to_be_destroyed_is_destroyed() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { }) (thing "b" { }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"{ resources = [ (thing "b" { }) ]; removed = [ { from = "fake.fake_thing.a"; destroy = true; } ]; }"#,
    );
    assert_eq!(lab.done(|| lab.apply().success()), ["delete a-1"]);
    lab.converged();
}

#[test]
fn what_is_still_declared_is_not_removed() {
    let lab = Lab::new();
    lab.stack(
        r#"{ resources = [ (thing "a" { }) ]; removed = [ { from = "fake.fake_thing.a"; } ]; }"#,
    );
    lab.plan()
        .exits(1)
        .says("'fake.fake_thing.a' is still declared");
}

#[test]
fn instances_are_let_go_of_alone_and_together() {
    let lab = Lab::new();
    let web = r#"(n.forEach [ "x" "y" ] (key: _: thing "web" { name = key; }))"#;
    let site = r#"(n.forEach [ "u" "v" ] (key: _: thing "site" { name = key; }))"#;
    lab.stack(&format!("{{ resources = [ {web} {site} ]; }}"));
    lab.apply().success();
    // One instance by its own id; of a resource that has instances left, the id without key says nothing about the others.
    lab.stack(
        r#"{
          resources = [ (n.forEach [ "v" ] (key: _: thing "site" { name = key; })) ];
          removed = [ { from = "fake.fake_thing.web__x"; } { from = "fake.fake_thing.site"; } ];
        }"#,
    );
    let mut done = lab.done(|| lab.apply().success().says("2 destroyed, 1 forgotten"));
    done.sort();
    assert_eq!(done, ["delete u-1", "delete y-1"]);
    lab.stack(r#"{ providers = [ fake ]; removed = [ { from = "fake.fake_thing.site"; } ]; }"#);
    assert_eq!(
        lab.done(|| lab.apply().success().says("1 forgotten")),
        [""; 0]
    );
    assert_eq!(lab.listed(), [""; 0]);
}

#[test]
fn what_has_moved_is_let_go_of_under_its_new_id() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"{
          providers = [ fake ];
          moved = [ { from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; } ];
          removed = [ { from = "fake.fake_thing.b"; } ];
        }"#,
    );
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.b will no longer be managed")
        .says("# (moved from fake.fake_thing.a)");
    assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
    assert_eq!(lab.listed(), [""; 0]);
}

#[test]
fn letting_go_needs_no_provider() {
    let lab = Lab::new();
    let copy = lab.0.path("terraform-provider-fake");
    fs::copy(fake_provider(), &copy).unwrap();
    let source = Value::from(copy.to_str().unwrap());
    lab.stack(&format!(
        r#"let own = n.provider {{ id = "own"; source = {source}; }}; in {{ resources = [ (things own "a" {{ }}) ]; }}"#
    ));
    lab.apply().success();
    fs::remove_file(&copy).unwrap();
    lab.stack(r#"{ removed = [ { from = "own.fake_thing.a"; } ]; }"#);
    lab.plan()
        .exits(2)
        .says("# own.fake_thing.a will no longer be managed")
        .says("1 to forget");
    lab.apply().success().says("1 forgotten");
    assert_eq!(lab.listed(), [""; 0]);
}

#[test]
fn left_over_objects_are_let_go_of_with_a_warning() {
    let lab = Lab::new();
    let with = |force: &str| {
        format!(
            r#"{{ resources = [ (n.resource {{
              provider = fake; type = "fake_thing"; name = "a"; config = {{ name = "a"; force_new = "{force}"; }};
              meta.lifecycle.createBeforeDestroy = true;
            }}) ]; }}"#
        )
    };
    lab.stack(&with("1"));
    lab.apply().success();
    lab.stack(&with("2"));
    lab.fault("delete", "error");
    lab.apply().exits(1);
    lab.fault("", "");
    assert_eq!(
        lab.stored("fake.fake_thing.a")["deposed"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
    lab.stack(r#"{ providers = [ fake ]; removed = [ { from = "fake.fake_thing.a"; } ]; }"#);
    lab.plan()
        .exits(2)
        .says("left over from a replacement, will no longer be managed either");
    assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
    assert_eq!(lab.listed(), [""; 0]);
}

#[test]
fn an_object_that_is_gone_leaves_what_is_left_of_its_replacement_to_be_destroyed() {
    let lab = Lab::new();
    let with = |force: &str| {
        format!(
            r#"{{ resources = [ (n.resource {{
              provider = fake; type = "fake_thing"; name = "a"; config = {{ name = "a"; force_new = "{force}"; }};
              meta.lifecycle.createBeforeDestroy = true;
            }}) ]; }}"#
        )
    };
    lab.stack(&with("1"));
    lab.apply().success();
    lab.stack(&with("2"));
    lab.fault("delete", "error");
    lab.apply().exits(1);
    // The successor vanishes, and the delete fails once more: the predecessor must not be forgotten with it.
    let mut record = fs::read_to_string(lab.0.path("record")).unwrap();
    record.push_str("{\"op\":\"delete\",\"type\":\"fake_thing\",\"id\":\"a-2\",\"object\":null}\n");
    lab.0.write("record", &record);
    lab.stack("{ providers = [ fake ]; }");
    lab.apply().exits(1);
    assert_eq!(lab.listed(), ["fake.fake_thing.a"]);
    lab.fault("", "");
    assert_eq!(lab.done(|| lab.apply().success()), ["delete a-1"]);
    assert_eq!(lab.listed(), [""; 0]);
}
