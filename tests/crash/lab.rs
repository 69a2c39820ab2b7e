//! A stack in the middle of its life, to be applied as often as it takes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value as Json;

use crate::support::{Workspace, fake_provider, overwrite};

/// One object, which the next configuration replaces: the old one is going to be left over.
const FIRST: &str = r#"[ (thing "left" { force_new = "a"; } first) ]"#;

/// What the next configuration changes in every way there is.
const BEFORE: &str = r#"let
    leading = thing "leading" { force_new = "a"; } first;
    gone = thing "gone" { } { };
  in [
    leading gone
    (thing "kept" { } { })
    (thing "changed" { value = "a"; } { })
    (thing "swapped" { force_new = "a"; } { })
    (thing "following" { value = leading.ref "id"; } { })
    (thing "gone-too" { value = gone.ref "id"; } { })
    (thing "left" { force_new = "b"; } first)
  ]"#;

/// Two updates, a replacement of either order, two removals of which one waits for the other, three creations of which two
/// wait, and a deposed object.
const AFTER: &str = r#"let
    leading = thing "leading" { force_new = "b"; } first;
    swapped = thing "swapped" { force_new = "b"; } { };
    new = thing "new" { } { };
  in [
    leading swapped new
    (thing "kept" { } { })
    (thing "changed" { value = "b"; } { })
    (thing "following" { value = leading.ref "id"; } { })
    (thing "left" { force_new = "b"; } first)
    (thing "newer" { value = swapped.ref "id"; } { })
    (thing "newest" { value = new.ref "id"; } { })
  ]"#;

/// Names of what there is in the end.
pub(super) const NAMES: [&str; 9] = [
    "changed",
    "following",
    "kept",
    "leading",
    "left",
    "new",
    "newer",
    "newest",
    "swapped",
];

/// Stands in for Nix, whose answer is always the same here: runs by the thousand are the point, not evaluations.
const NIX: &str = r#"#!/bin/sh
case $1 in
  --version) echo 'nix-instantiate (Nix) 2.8.0' ;;
  *) IFS= read -r line <IR && printf '%s\n' "$line" ;;
esac
"#;

/// A stack that is about to be applied.
pub(super) struct Lab {
    /// Holds what its workspaces share.
    template: Workspace,
    /// Files to begin with, by name; none for a new stack.
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Lab {
    /// A stack that was never applied.
    pub(super) fn fresh() -> Self {
        let changed = Self::changed();
        Self {
            files: Vec::new(),
            ..changed
        }
    }

    /// A stack whose configuration has changed since it was applied, and of which one object is left deposed.
    pub(super) fn changed() -> Self {
        let template = Workspace::with_fake();
        let apply = |resources: &str, faults: &str| {
            stack(&template, resources);
            template.write("faults", faults);
            template.run_stack("apply", &["--auto-approve"])
        };
        apply(FIRST, "[]").success();
        let faults = r#"[{"on":"delete","match":{"force_new":"a"},"do":"error"}]"#;
        apply(BEFORE, faults).exits(1).says("Told to fail");
        stack(&template, AFTER);
        let plan = template.run_stack("plan", &[]).success();
        plan.says("Plan: 5 to add, 2 to change, 5 to destroy.");
        let ir = template.command(["ir", "--file", "stack.nix"]).output();
        let ir = ir.unwrap();
        assert!(ir.status.success(), "{ir:?}");
        overwrite(&template.path("ir.json"), &ir.stdout).unwrap();
        let ir_path = Json::from(template.path("ir.json").to_str().unwrap()).to_string();
        template.write("bin/nix-instantiate", &NIX.replace("IR", &ir_path));
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(template.path("bin/nix-instantiate"), executable).unwrap();
        let kept = [
            ".nivis/stack/state.json",
            ".nivis/stack/.gitignore",
            "record",
        ];
        let files = kept.map(|name| (name, fs::read(template.path(name)).unwrap()));
        Self {
            files: files.into(),
            template,
        }
    }

    /// The stack in a workspace of its own, to be applied once.
    pub(super) fn workspace(&self) -> Workspace {
        let mut workspace = Workspace::with_fake();
        workspace.set_env("PATH", self.template.path("bin"));
        let cache = self.template.root().join("home/.cache");
        workspace.set_env("XDG_CACHE_HOME", cache);
        workspace.write("stack.nix", "the stand-in for Nix knows what is here");
        for (name, bytes) in &self.files {
            fs::create_dir_all(workspace.path(name).parent().unwrap()).unwrap();
            overwrite(&workspace.path(name), bytes).unwrap();
        }
        workspace
    }
}

fn stack(workspace: &Workspace, resources: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          first = {{ createBeforeDestroy = true; }};
          thing = name: config: lifecycle: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config; meta = {{ inherit lifecycle; }};
          }};
        in {{ resources = {resources}; }}"#
    ));
}
