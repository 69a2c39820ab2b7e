//! A sealed place to run the binary in.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Output;

/// Programs of Nix whose calls are counted.
const COUNTED: [&str; 3] = ["nix", "nix-instantiate", "nix-store"];

/// Settings of Nix: nothing comes from the network. The others let root build where there is neither daemon nor build user.
const NIX_CONFIG: &str = "substituters =\n";
const NIX_CONFIG_ALONE: &str = "build-users-group =\nsandbox = false\n";

/// Makes a file contain `bytes`. A test may leave half a file behind, the program may not.
#[expect(clippy::disallowed_methods, reason = "see above")]
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::write(path, bytes)
}

/// A folder of its own with an environment of its own, removed at the end of the test.
pub(crate) struct Workspace {
    /// Holds the folder; its path is short, because sockets have short paths.
    root: tempfile::TempDir,
    env: Vec<(&'static str, OsString)>,
}

impl Workspace {
    /// An empty one.
    #[expect(
        clippy::disallowed_methods,
        reason = "the tests' own PATH says where Nix is"
    )]
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("nivis-").tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["bin", "home", "ledgers", "run", "tmp", "work"] {
            fs::create_dir(at(folder)).unwrap();
        }
        fs::set_permissions(at("run"), fs::Permissions::from_mode(0o700)).unwrap();
        let counter = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/nix-counter");
        for program in COUNTED {
            symlink(&counter, at("bin").join(program)).unwrap();
        }
        let real_path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [at("bin")]
            .into_iter()
            .chain(std::env::split_paths(&real_path));
        let daemon = Path::new("/nix/var/nix/daemon-socket/socket").exists();
        let alone = if daemon { "" } else { NIX_CONFIG_ALONE };
        let env = vec![
            ("PATH", std::env::join_paths(folders).unwrap()),
            ("NIX_REAL_PATH", real_path),
            ("NIX_CALLS", at("nix-calls").into()),
            ("NIX_LEDGERS", at("ledgers").into()),
            ("NIX_CONFIG", format!("{NIX_CONFIG}{alone}").into()),
            ("HOME", at("home").into()),
            ("XDG_RUNTIME_DIR", at("run").into()),
            ("TMPDIR", at("tmp").into()),
            ("USER", "tester".into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("NO_COLOR", "1".into()),
        ];
        Self { root, env }
    }

    /// One in which the fake provider keeps its record, its calls and its ends, and finds its faults, in files of the working
    /// folder: `record`, `calls`, `ends`, `faults`.
    pub(crate) fn with_fake() -> Self {
        let mut workspace = Self::new();
        for (name, file) in [
            ("FAKE_CALLS", "calls"),
            ("FAKE_RECORD", "record"),
            ("FAKE_FAULTS", "faults"),
            ("FAKE_ENDS", "ends"),
        ] {
            let path = workspace.path(file);
            workspace.set_env(name, path);
        }
        workspace
    }

    /// The working folder of runs, or a path in it.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.path().join("work").join(name)
    }

    /// The folder that holds everything a run may write: working folder, home, temporary and run-time files.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Sets an environment variable of the runs to come.
    pub(crate) fn set_env(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.env.retain(|(n, _)| *n != name);
        self.env.push((name, value.into()));
    }

    /// Writes a file in the working folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        overwrite(&path, text.as_bytes()).unwrap();
    }

    /// Writes `stack.nix`. `body` is what the author's function gives: `n`, `vars` and `lib` (this repository's library)
    /// are in scope.
    pub(crate) fn stack(&self, body: &str) {
        let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("nix/lib");
        let lib = serde_json::Value::from(lib.to_str().unwrap());
        let text = format!("let lib = import {lib}; in lib.plan ({{ n, vars, ... }}:\n{body})\n");
        self.write("stack.nix", &text);
    }

    /// Runs `nivis` in the working folder to its end; stdin is empty.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.finish(&mut self.command(args))
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&self, command: &mut Command) -> Output {
        let output = command.stdin(Stdio::null()).output().unwrap();
        let status = output.status;
        Output {
            stdout: self.normal(&output.stdout),
            stderr: self.normal(&output.stderr),
            code: status.code().or(status.signal().map(|s| 128 + s)).unwrap(),
        }
    }

    /// Runs a verb of `nivis` on `stack.nix`.
    pub(crate) fn run_stack(&self, verb: &str, args: &[&str]) -> Output {
        self.run([&[verb, "--file", "stack.nix"], args].concat())
    }

    /// A run of `nivis` that a test starts itself.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests start the binary as a user does"
    )]
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nivis"));
        command
            .args(args)
            .current_dir(self.path(""))
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Calls of Nix so far, one line each: the program's name and its arguments.
    pub(crate) fn nix_calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.root.path().join("nix-calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often Nix has evaluated so far.
    pub(crate) fn evaluations(&self) -> usize {
        let is_evaluation = |call: &String| {
            let mut words = call.split(' ');
            match words.next() {
                Some("nix-instantiate") => words.any(|word| word == "--eval"),
                Some("nix") => words.any(|word| word == "eval"),
                _ => false,
            }
        };
        self.nix_calls()
            .iter()
            .filter(|call| is_evaluation(call))
            .count()
    }

    /// Text with the workspace's and the repository's paths replaced.
    fn normal(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes)
            .replace(&*self.root.path().to_string_lossy(), "[WORKSPACE]")
            .replace(env!("CARGO_MANIFEST_DIR"), "[REPOSITORY]")
    }
}
