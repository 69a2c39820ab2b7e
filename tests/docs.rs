//! What the documents show works.

use std::fs;
use std::path::Path;

use crate::support::{Workspace, overwrite};

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// Contents of the fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_readme_example_runs() {
    let workspace = Workspace::new();
    let readme = read("README.md");
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("nix/lib");
    let example = blocks(&readme, "nix")[0].replace("./nix/lib", lib.to_str().unwrap());
    assert!(example.lines().count() <= 32, "the example has grown");
    workspace.write("stack.nix", &example);
    let commands = blocks(&readme, "console")[0].clone();
    let mut ran = 0;
    for line in commands.lines() {
        let mut args: Vec<&str> = line.strip_prefix("$ nivis ").unwrap().split(' ').collect();
        if ["apply", "destroy"].contains(&args[0]) {
            args.push("--auto-approve");
        }
        let output = workspace.run(&args).success();
        if args[0] == "output" {
            assert!(output.stdout.ends_with(".example.org"), "{output}");
            let pages = fs::read_dir(workspace.path("site")).unwrap().count();
            assert_eq!(pages, 1);
        }
        ran += 1;
    }
    assert_eq!(ran, 4);
    assert_eq!(workspace.evaluations(), 1 + 2 + 1, "plan, apply, destroy");
}

#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for file in [
        "README.md",
        "docs/index.md",
        "docs/contributing.md",
        "docs/architecture.md",
    ] {
        let text = read(file);
        let targets = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for target in targets.filter(|t| !t.contains("://")) {
            let path = root.join(file).parent().unwrap().join(target);
            assert!(path.exists(), "{file} links to {target}");
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen} links");
}

/// Environment variables and what is said about them, from the constants of `src/cli/env.rs`.
fn environment_variables(source: &str) -> Vec<(String, String)> {
    let mut said = Vec::new();
    let mut rows = Vec::new();
    // The list of a constant may be wrapped.
    let source = source.replace("[\n    \"", "[\"");
    for item in source.replace("\",\n    \"", "\", \"").lines() {
        if let Some(line) = item.strip_prefix("/// ") {
            said.push(line);
            continue;
        }
        let about = std::mem::take(&mut said).join(" ");
        let Some((_, value)) = item
            .strip_prefix("const ")
            .and_then(|c| c.split_once(" = "))
        else {
            continue;
        };
        let names: Vec<&str> = value.split('"').skip(1).step_by(2).collect();
        if names.is_empty() || names.iter().any(|name| name.starts_with('/')) {
            continue;
        }
        let names = names.iter().map(|name| {
            let rest = if name.ends_with('_') { "…" } else { "" };
            format!("`{name}{rest}`")
        });
        rows.push((names.collect::<Vec<_>>().join(", "), about));
    }
    rows
}

#[test]
fn the_page_about_the_environment_is_current() {
    let rows = environment_variables(&read("src/cli/env.rs"));
    assert!(rows.len() >= 15, "{rows:?}");
    let table: String = rows
        .iter()
        .map(|(names, about)| {
            assert!(!about.is_empty(), "{names} is not described");
            format!("| {names} | {about} |\n")
        })
        .collect();
    let current = format!(
        "# Environment variables\n\nWhat nivis itself reads; made by the tests from `src/cli/env.rs`. Provider plugins get the whole environment of nivis, and \
        Nix reads its own variables.\n\n| name | meaning |\n|---|---|\n{table}"
    );
    let page = "docs/reference/environment.md";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if fs::read_to_string(&path).ok().as_deref() != Some(&current) {
        overwrite(&path, current.as_bytes()).unwrap();
        panic!("{page} was not current; it has been written anew");
    }
}

#[test]
fn every_setting_of_every_backend_is_documented() {
    let text = read("docs/reference/backends.md");
    for kind in nivis::state::KINDS {
        let (_, section) = text.split_once(&format!("\n## `{}`\n", kind.name)).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows: Vec<&str> = section.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(rows.len(), kind.keys.len(), "{}", kind.name);
        for (key, variables) in kind.keys {
            let row = rows
                .iter()
                .find(|row| row.starts_with(&format!("| `{key}` |")));
            let row = row.unwrap_or_else(|| panic!("{key} of {} is missing", kind.name));
            for variable in *variables {
                assert!(row.contains(&format!("`{variable}`")), "{variable}: {row}");
            }
        }
    }
}
