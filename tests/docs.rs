//! What the documents show works.

use std::fs;
use std::path::Path;

use crate::support::Workspace;

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
