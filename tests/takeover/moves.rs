//! `moved`.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::lab::{Lab, count};
use crate::support::{fake_provider, real_provider};

const TWO: &str =
    r#"let a = thing "a" { }; in { resources = [ a (thing "b" { value = a.ref "id"; }) ]; }"#;

#[test]
fn a_renamed_resource_keeps_its_object() {
    for lab in Lab::each_protocol() {
        lab.stack(TWO);
        lab.apply().success();
        lab.stack(
            r#"let c = thing "c" { name = "a"; }; in {
              resources = [ c (thing "b" { value = c.ref "id"; }) ];
              moved = [ { from = "fake.fake_thing.a"; to = c; } ];
            }"#,
        );
        lab.plan()
            .exits(2)
            .says("# fake.fake_thing.a has moved to fake.fake_thing.c")
            .says("Plan: 0 to add, 0 to change, 0 to destroy, 1 to move.")
            .is_silent_about("No changes");
        assert_eq!(lab.listed(), ["fake.fake_thing.a", "fake.fake_thing.b"]);
        let done = lab.done(|| {
            let calls = lab.calls(|| {
                lab.apply()
                    .success()
                    .says("0 added, 0 changed, 0 destroyed")
            });
            assert_eq!(
                count(&calls, "MoveResourceState"),
                0,
                "it is the same type of the same provider"
            );
        });
        assert_eq!(done, [""; 0]);
        assert_eq!(lab.listed(), ["fake.fake_thing.b", "fake.fake_thing.c"]);
        assert_eq!(lab.stored("fake.fake_thing.c")["name"], "c");
        lab.converged();

        // What depends on it knows its new id, so that the order of destruction stands.
        lab.stack("{ resources = [ ]; }");
        let done = lab.done(|| lab.apply().success());
        assert_eq!(done, ["delete b-1", "delete a-1"]);
    }
}

#[test]
fn a_moved_object_changes_in_place_like_any_other() {
    let lab = Lab::new();
    lab.stack(TWO);
    lab.apply().success();
    lab.stack(
        r#"let c = thing "c" { value = "new"; }; in {
          resources = [ c (thing "b" { value = c.ref "id"; }) ];
          moved = [ { from = "fake.fake_thing.a"; to = c; } ];
        }"#,
    );
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.c will be updated in place")
        .says("# (moved from fake.fake_thing.a)");
    // Even if the change fails, the object is known under its new id.
    lab.fault("update", "error");
    lab.apply().exits(1);
    assert_eq!(lab.listed(), ["fake.fake_thing.b", "fake.fake_thing.c"]);
    lab.fault("", "");
    let done = lab.done(|| lab.apply().success());
    assert_eq!(done, ["update a-1"]);
    lab.converged();
}

#[test]
fn nothing_moves_without_approval() {
    let lab = Lab::new();
    lab.stack(TWO);
    lab.apply().success();
    lab.stack(
        r#"let c = thing "c" { name = "a"; }; in {
          resources = [ c (thing "b" { value = c.ref "id"; }) ];
          moved = [ { from = "fake.fake_thing.a"; to = c; } ];
        }"#,
    );
    lab.0
        .run_stack("apply", &[])
        .exits(1)
        .says("Cannot ask for approval");
    assert_eq!(lab.listed(), ["fake.fake_thing.a", "fake.fake_thing.b"]);
}

#[test]
fn instances_move_alone_and_together() {
    let lab = Lab::new();
    // One object becomes the first of several.
    lab.stack(r#"{ resources = [ (thing "old" { name = "x"; }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"let web = n.count 2 (i: thing "web" { name = if i == 0 then "x" else "y"; }); in {
          resources = web;
          moved = [ { from = "fake.fake_thing.old"; to = builtins.head web; } ];
        }"#,
    );
    let done = lab.done(|| {
        lab.apply()
            .success()
            .says("1 added, 0 changed, 0 destroyed")
    });
    assert_eq!(done, ["create y-1"]);
    // Numbers become names.
    let keyed = |moves: &str| {
        format!(
            r#"let site = n.forEach [ "x" "y" ] (key: _: thing "site" {{ name = key; }}); in {{
              resources = [ site ];
              moved = [ {moves} {{ from = "fake.fake_thing.web__0"; to = site.x; }} {{ from = "fake.fake_thing.web__1"; to = site.y; }} ];
            }}"#
        )
    };
    lab.stack(&keyed(""));
    assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
    assert_eq!(
        lab.listed(),
        ["fake.fake_thing.site__x", "fake.fake_thing.site__y"]
    );
    assert_eq!(lab.stored("fake.fake_thing.site__y")["index"], "y");
    // All of them at once.
    lab.stack(
        r#"{
          resources = [ (n.forEach [ "x" "y" ] (key: _: thing "page" { name = key; })) ];
          moved = [ { from = "fake.fake_thing.site"; to = "fake.fake_thing.page"; } ];
        }"#,
    );
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.site__x has moved to fake.fake_thing.page__x")
        .says("0 to add, 0 to change, 0 to destroy, 2 to move");
    assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
    assert_eq!(
        lab.listed(),
        ["fake.fake_thing.page__x", "fake.fake_thing.page__y"]
    );
    lab.converged();
}

#[test]
fn chains_lead_to_their_end_and_entries_may_stay() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { name = "x"; }) ]; }"#);
    lab.apply().success();
    let chained = r#"{
      resources = [ (thing "c" { name = "x"; }) ];
      moved = [
        { from = "fake.fake_thing.b"; to = "fake.fake_thing.c"; }
        { from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; }
      ];
    }"#;
    lab.stack(chained);
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.a has moved to fake.fake_thing.c");
    assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
    lab.converged();
    // A destroy of a stack that has still to move destroys what is there.
    lab.run(&["state", "mv", "fake.fake_thing.c", "fake.fake_thing.a"])
        .success();
    let done = lab.done(|| {
        let destroyed = lab.0.run_stack("destroy", &["--auto-approve"]);
        destroyed.success().says("# (moved from fake.fake_thing.a)");
    });
    assert_eq!(done, ["delete x-1"]);
    assert_eq!(lab.listed(), [""; 0]);
}

#[test]
fn what_is_in_the_way_stays_with_a_warning() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { }) (thing "b" { }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"{
          resources = [ (thing "b" { }) ];
          moved = [ { from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; } ];
        }"#,
    );
    lab.plan()
        .exits(2)
        .says("warning: Object could not move")
        .says("`fake.fake_thing.a` has moved to `fake.fake_thing.b`, but both have an object")
        .says("0 to add, 0 to change, 1 to destroy");
    assert_eq!(lab.done(|| lab.apply().success()), ["delete a-1"]);
    lab.converged();
}

#[test]
fn moves_that_make_no_sense_are_refused() {
    let lab = Lab::new();
    for (resources, moves, expected) in [
        (
            r#"(thing "a" { })"#,
            r#"{ from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; }"#,
            "'fake.fake_thing.a' is still declared",
        ),
        (
            "",
            r#"{ from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; } { from = "fake.fake_thing.b"; to = "fake.fake_thing.a"; }"#,
            "moves in a circle: 'fake.fake_thing.a' to 'fake.fake_thing.b' to 'fake.fake_thing.a'",
        ),
        (
            "",
            r#"{ from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; } { from = "fake.fake_thing.b__k"; to = "fake.fake_thing.a__k"; }"#,
            "`fake.fake_thing.a` to `fake.fake_thing.b__k` to `fake.fake_thing.a`",
        ),
        (
            r#"(n.forEach [ "k" ] (key: _: thing "a" { })) (thing "b" { })"#,
            r#"{ from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; }"#,
            "instances of `fake.fake_thing.a` are in the configuration",
        ),
        (
            "",
            r#"{ from = "fake.fake_thing.a"; to = "fake.fake_thing.c"; } { from = "fake.fake_thing.b"; to = "fake.fake_thing.c"; }"#,
            "'fake.fake_thing.c' moves twice",
        ),
    ] {
        lab.stack(&format!(
            "{{ providers = [ fake ]; resources = [ {resources} ]; moved = [ {moves} ]; }}"
        ));
        for verb in ["plan", "validate"] {
            lab.0.run_stack(verb, &[]).exits(1).says(expected);
        }
    }
}

/// A stack in which `thing "a"` is another provider's: the same program under another name.
fn others(lab: &Lab) -> String {
    let path = lab.0.path("terraform-provider-other");
    symlink(fake_provider(), &path).unwrap();
    let source = Value::from(path.to_str().unwrap());
    format!(r#"let other = n.provider {{ id = "other"; source = {source}; }}; in"#)
}

#[test]
fn another_provider_takes_an_object_over() {
    for lab in Lab::each_protocol() {
        let others = others(&lab);
        lab.stack(&format!(
            r#"{others} let a = things other "a" {{ }}; in {{ resources = [ a (thing "b" {{ value = a.ref "id"; }}) ]; }}"#
        ));
        lab.apply().success();
        lab.stack(
            r#"let a = thing "a" { }; in {
              resources = [ a (thing "b" { value = a.ref "id"; }) ];
              moved = [ { from = "other.fake_thing.a"; to = a; } ];
            }"#,
        );
        let moved = "# other.fake_thing.a has moved to fake.fake_thing.a";
        let calls = lab.calls(|| lab.plan().exits(2).says(moved));
        assert_eq!(count(&calls, "MoveResourceState"), 1);
        let sent = calls
            .iter()
            .find(|c| c["rpc"] == "MoveResourceState")
            .unwrap();
        assert_eq!(
            (&sent["type"], &sent["stored"]["id"]),
            (&"fake_thing".into(), &"a-1".into())
        );
        assert_eq!(count(&calls, "UpgradeResourceState"), 1, "of `b` alone");
        assert_eq!(count(&calls, "ReadResource"), 2);
        assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
        assert_eq!(lab.stored("fake.fake_thing.a")["provider"], "fake");
        let calls = lab.calls(|| lab.converged());
        assert_eq!(count(&calls, "MoveResourceState"), 0);
    }
}

#[test]
fn another_type_takes_an_object_over() {
    for lab in Lab::each_protocol() {
        let builtin = r#"builtin = n.provider { id = "builtin"; source = "builtin"; };"#;
        lab.stack(&format!(
            r#"let {builtin} in {{ resources = [ (n.resource {{
              provider = builtin; type = "builtin_data"; name = "a"; config.input = "x";
            }}) ]; }}"#
        ));
        lab.apply().success();
        let id = lab.stored("builtin.builtin_data.a")["current"]["attributes"]["id"].clone();
        lab.make(id.as_str().unwrap(), &json!({}));
        lab.stack(
            r#"{ resources = [ (thing "a" { }) ]; moved = [ { from = "builtin.builtin_data.a"; to = "fake.fake_thing.a"; } ]; }"#,
        );
        lab.plan()
            .exits(2)
            .says("# (moved from builtin.builtin_data.a)")
            .says("0 to add, 1 to change, 0 to destroy");
        lab.fault("update", "error");
        lab.apply().exits(1);
        let stored = lab.stored("fake.fake_thing.a");
        assert_eq!(
            (&stored["type"], &stored["provider"]),
            (&"fake_thing".into(), &"fake".into())
        );
        assert_eq!(stored["current"]["attributes"]["id"], id);
        assert_eq!(stored["current"]["schema_version"], 1);
        lab.fault("", "");
        let calls = lab.calls(|| {
            lab.apply()
                .success()
                .says("0 added, 1 changed, 0 destroyed")
        });
        assert_eq!(count(&calls, "MoveResourceState"), 0, "it is one already");
        lab.converged();
    }
}

#[test]
fn a_provider_that_does_not_take_an_object_over_is_an_error() {
    let lab = Lab::new();
    let others = others(&lab);
    lab.stack(&format!(
        r#"{others} {{ resources = [ (things other "a" {{ }}) ]; }}"#
    ));
    lab.apply().success();
    let moved = |to: &str| {
        lab.stack(&format!(
            r#"let builtin = n.provider {{ id = "builtin"; source = "builtin"; }}; in {{
              resources = [ ({to}) ]; moved = [ {{ from = "other.fake_thing.a"; to = {to}; }} ];
            }}"#
        ));
    };
    moved(r#"n.resource { provider = builtin; type = "builtin_data"; name = "a"; config = { }; }"#);
    lab.plan()
        .exits(1)
        .says("Move not supported")
        .says("it was a `fake_thing` of registry.terraform.io/hashicorp/other");
    moved(r#"thing "a" { }"#);
    for (fault, expected) in [
        ("error", "Told to fail"),
        ("null", "Invalid resource state transformation"),
        ("wrong_type", "Invalid resource state transformation"),
    ] {
        lab.fault("move", fault);
        lab.plan().exits(1).says(expected);
        lab.apply().exits(1).says(expected);
        assert_eq!(lab.listed(), ["other.fake_thing.a"]);
    }
}

#[test]
fn real_providers_take_over_what_they_know() {
    let (Some(time), Some(random)) = (real_provider("time"), real_provider("random")) else {
        return;
    };
    let lab = Lab::new();
    let plugins = format!(
        "let time = n.provider {{ id = \"time\"; source = {}; }}; random = n.provider {{ id = \"random\"; source = {}; }}; \
         make = provider: type: name: config: n.resource {{ inherit provider type name config; }}; in",
        Value::from(time.to_str().unwrap()),
        Value::from(random.to_str().unwrap())
    );
    let stack = |body: &str| lab.0.stack(&format!("{plugins} {body}"));
    stack(
        r#"{ resources = [ (make random "random_pet" "a" { }) (make time "time_static" "b" { }) ]; }"#,
    );
    lab.apply().success();
    let pet = lab.stored("random.random_pet.a");
    stack(
        r#"{
          resources = [ (make random "random_pet" "z" { }) (make time "time_static" "b" { }) ];
          moved = [ { from = "random.random_pet.a"; to = "random.random_pet.z"; } ];
        }"#,
    );
    lab.apply()
        .success()
        .says("# random.random_pet.a has moved to random.random_pet.z");
    assert_eq!(lab.stored("random.random_pet.z")["current"], pet["current"]);
    lab.converged();
    stack(
        r#"{
          resources = [ (make random "random_pet" "z" { }) (make random "random_uuid" "b" { }) ];
          moved = [ { from = "time.time_static.b"; to = "random.random_uuid.b"; } ];
        }"#,
    );
    let refused = lab.plan().exits(1);
    refused.says("random.random_uuid.b").says("ove");
}

#[test]
fn what_moves_out_of_the_configuration_is_destroyed() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"{ providers = [ fake ]; moved = [ { from = "fake.fake_thing.a"; to = "fake.fake_thing.b"; } ]; }"#,
    );
    lab.plan()
        .exits(2)
        .says("# fake.fake_thing.b will be destroyed")
        .says("# (because it has moved to an id that is not in the configuration)")
        .says("# (moved from fake.fake_thing.a)");
    assert_eq!(lab.done(|| lab.apply().success()), ["delete a-1"]);
}

#[test]
fn what_nix_computes_from_a_moved_object_stays_the_same() {
    let lab = Lab::new();
    let with = |name: &str, rest: &str| {
        lab.stack(&format!(
            r#"let a = thing "{name}" {{ name = "x"; }}; in {{
              resources = [ a (thing "b" {{ value = n.derive (a.ref "id") (id: "<${{id}}>"); }}) ];
              {rest}
            }}"#
        ));
    };
    with("a", "");
    lab.apply().success();
    with(
        "c",
        r#"moved = [ { from = "fake.fake_thing.a"; to = "fake.fake_thing.c"; } ];"#,
    );
    lab.plan()
        .exits(2)
        .says("0 to add, 0 to change, 0 to destroy, 1 to move");
    assert_eq!(lab.done(|| lab.apply().success()), [""; 0]);
    let before = lab.0.evaluations();
    lab.converged();
    assert_eq!(
        lab.0.evaluations() - before,
        1,
        "the new id is remembered for the first evaluation"
    );
}

#[test]
fn a_limited_run_does_not_move_what_it_leaves_out() {
    let lab = Lab::new();
    lab.stack(r#"{ resources = [ (thing "a" { }) (thing "b" { }) ]; }"#);
    lab.apply().success();
    lab.stack(
        r#"{
          resources = [ (thing "b" { }) (thing "c" { name = "a"; }) ];
          moved = [ { from = "fake.fake_thing.a"; to = "fake.fake_thing.c"; } ];
        }"#,
    );
    let only = |id: &str| {
        lab.0
            .run_stack("apply", &["--auto-approve", "--target", id])
    };
    only("fake.fake_thing.b")
        .exits(1)
        .says("Moved resource is left out")
        .says("--target fake.fake_thing.c");
    assert_eq!(lab.listed(), ["fake.fake_thing.a", "fake.fake_thing.b"]);
    only("fake.fake_thing.c").success();
    assert_eq!(lab.listed(), ["fake.fake_thing.b", "fake.fake_thing.c"]);
}
