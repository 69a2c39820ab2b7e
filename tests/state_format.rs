//! State files of other versions.

use std::fs;

use serde_json::Value as Json;

use crate::support::{Workspace, fake_provider, overwrite};

/// What a member of a later version holds, to the letter.
const LATER: &str = r#"{"b": 1.10, "a": 1e400}"#;

fn stack(workspace: &Workspace, value: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: config: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config;
          }};
          a = thing "a" {{ value = "{value}"; }};
        in {{ resources = [ a (thing "b" {{ }}) ]; outputs.id = a.ref "id"; }}"#
    ));
}

/// An older nivis works with the state of a newer one of the same format version, and loses nothing of it.
#[test]
fn what_a_later_version_wrote_beside_is_kept() {
    let workspace = Workspace::with_fake();
    stack(&workspace, "x");
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let path = workspace.path(".nivis/stack/state.json");
    let text = fs::read_to_string(&path).unwrap();
    let places = [
        r#""format":"#,
        r#""provider":"fake""#,
        r#""schema_version":1"#,
        r#""value":"a-1""#,
    ];
    let mut later = text;
    for place in places {
        assert!(later.contains(place), "{place}\n{later}");
        later = later.replace(place, &format!(r#""later":{LATER},{place}"#));
    }
    let count = later.matches(LATER).count();
    assert!(count >= 6, "{later}");
    overwrite(&path, later.as_bytes()).unwrap();
    stack(&workspace, "y");
    let changed = workspace.run_stack("apply", &["--auto-approve"]);
    changed.success().says("1 changed");
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.contains(r#""value":"y""#), "{kept}");
    assert_eq!(kept.matches(LATER).count(), count, "{kept}");
}

#[test]
fn a_later_format_is_refused_with_a_word_about_it() {
    let workspace = Workspace::with_fake();
    stack(&workspace, "x");
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let path = workspace.path(".nivis/stack/state.json");
    let text = fs::read_to_string(&path).unwrap();
    let later = text.replace("\"version\": 1", "\"version\": 2");
    assert_ne!(text, later);
    overwrite(&path, later.as_bytes()).unwrap();
    for verb in ["plan", "show"] {
        let refused = workspace.run_stack(verb, &[]).exits(1);
        refused
            .says("has format version 2; this nivis reads up to 1")
            .says("use the newer nivis that wrote it");
    }
    let applied = workspace.run_stack("apply", &["--auto-approve"]);
    applied.exits(1).says("has format version 2");
    assert_eq!(fs::read_to_string(&path).unwrap(), later);
}
