//! Where nivis runs: in folders with odd names, as a plain user, and where nothing can be written.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Output, Workspace};

/// A user and group that own nothing.
const NOBODY: u32 = 65534;

const STACK: &str = r#"let
  builtin = n.provider { id = "builtin"; source = "builtin"; };
  name = n.resource { provider = builtin; type = "builtin_random"; name = "name"; config.kind = "name"; };
in {
  resources = [
    name
    (n.resource {
      provider = builtin; type = "builtin_file"; name = "page";
      config = { filename = "./page"; content = n.derive (name.ref "result") (r: builtins.toJSON { inherit r; }); };
    })
  ];
}"#;

/// A folder of a workspace with `flake.nix`, `stack.nix` and the library in it.
struct Place {
    workspace: Workspace,
    folder: PathBuf,
}

impl Place {
    fn new(name: &str) -> Self {
        let workspace = Workspace::new();
        let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("nix/lib");
        for entry in fs::read_dir(lib).unwrap().map(Result::unwrap) {
            let file = entry.file_name().into_string().unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            workspace.write(&format!("{name}/lib/{file}"), &text);
        }
        let plan = format!("(import ./lib).plan ({{ n, ... }}:\n{STACK})");
        workspace.write(&format!("{name}/stack.nix"), &plan);
        let flake = format!("{{ outputs = _: {{ nivis.default = {plan}; }}; }}");
        workspace.write(&format!("{name}/flake.nix"), &flake);
        let folder = workspace.path(name);
        Self { workspace, folder }
    }

    fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        let mut command = self.workspace.command(args);
        self.workspace.finish(command.current_dir(&self.folder))
    }

    /// Gives everything in the workspace to a user who is not root, and runs as that user; as who we are, if that is not
    /// root.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests start the binary as a user does"
    )]
    fn run_plainly(&self, args: &[&str]) -> Output {
        let ours = self.workspace.command(args);
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            return self.run(args);
        }
        // The checkout may be where only root can go.
        let program = self.workspace.root().join("nivis");
        if !program.exists() {
            // Not by this process: a child that is forked meanwhile would hold it open for writing, and it could not run.
            let copied = Command::new("cp")
                .arg(ours.get_program())
                .arg(&program)
                .status();
            assert!(copied.unwrap().success());
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            .arg(program)
            .args(args)
            .env_clear()
            .envs(ours.get_envs().filter_map(|(k, v)| Some((k, v?))))
            // Without a daemon, a user has a store of their own.
            .env(
                "NIX_REMOTE",
                format!(
                    "local?root={}",
                    self.workspace.root().join("home/nix").display()
                ),
            )
            .env("PATH", std::env::var_os("PATH").unwrap())
            .current_dir(&self.folder);
        self.workspace.finish(&mut command)
    }

    /// Makes the workspace belong to a user who is not root, but for the folder itself.
    fn give_away(&self) {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            return;
        }
        let mut open = vec![self.workspace.root().to_owned()];
        while let Some(path) = open.pop() {
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_symlink() {
                continue;
            }
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            if kind.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            }
        }
    }

    /// Applies and finds nothing to do afterwards, with the stack given as a flake or as a file.
    fn comes_to_rest(run: impl Fn(&[&str]) -> Output, stack: &[&str]) {
        run(&[&["apply", "--auto-approve"], stack].concat())
            .success()
            .says("Apply complete: 2 added, 0 changed, 0 destroyed.");
        run(&[&["plan", "--detailed-exitcode"], stack].concat())
            .success()
            .says("No changes.");
    }
}

#[test]
fn folders_with_odd_names() {
    for stack in [&["--file", "stack.nix"][..], &[]] {
        let place = Place::new("my stäck's $place & \"more\"");
        Place::comes_to_rest(|args| place.run(args), stack);
        assert!(place.folder.join("page").exists());
    }
}

#[test]
fn a_plain_user() {
    for stack in [&["--file", "stack.nix"][..], &[]] {
        let place = Place::new("a folder");
        place.give_away();
        Place::comes_to_rest(|args| place.run_plainly(args), stack);
        let page = fs::metadata(place.folder.join("page")).unwrap();
        assert_eq!(page.uid(), fs::metadata(&place.folder).unwrap().uid());
    }
}

#[test]
fn a_folder_that_cannot_be_written() {
    let place = Place::new("here");
    place.give_away();
    fs::set_permissions(&place.folder, fs::Permissions::from_mode(0o555)).unwrap();
    let stack = ["--file", "stack.nix"];
    place
        .run_plainly(&[&["plan"], &stack[..]].concat())
        .success()
        .says("Plan: 2 to add, 0 to change, 0 to destroy.");
    place
        .run_plainly(&[&["apply", "--auto-approve"], &stack[..]].concat())
        .exits(1)
        .says("Cannot reach the state")
        .says(".nivis")
        .says("permission denied")
        .is_silent_about("creating...");
    fs::set_permissions(&place.folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!place.folder.join("page").exists() && !place.folder.join(".nivis").exists());
}
