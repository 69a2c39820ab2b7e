//! One disturbed run, and the undisturbed one behind it.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::lab::Lab;
use super::verdict::{self, Verdict};
use crate::support::{Output, Workspace};

/// How a run is disturbed.
#[derive(Clone, Debug)]
pub(super) enum Blow {
    /// By an order to the run itself (`src/fs/fault.rs`).
    Order(String),
    /// By SIGKILL so long after its start.
    AfterStart(Duration),
    /// By SIGKILL so long after its first change of the world was written down.
    AfterIntent(Duration),
    /// By SIGKILL once so many operations have begun, none of which ends.
    Hung(usize),
    /// By these faults of the provider.
    Provider(String),
}

/// What came of a trial.
pub(super) struct Trial {
    /// How the disturbed run ended.
    pub(super) disturbed: Output,
    /// The run behind it.
    pub(super) again: Output,
    /// What holds after the run behind it.
    pub(super) verdict: Verdict,
}

/// Disturbs a run, lets its provider live on for `linger`, and runs again.
pub(super) fn run(lab: &Lab, blow: &Blow, linger: Duration) -> Trial {
    let workspace = lab.workspace();
    let disturbed = disturb(&workspace, blow, linger);
    // The power may have gone with the run: what was not on disk yet is cut off in the middle then.
    if matches!(blow, Blow::Order(order) if order.starts_with("kill@sync:journal.jsonl")) {
        cut(&workspace);
    }
    workspace.write("faults", "[]");
    let again = workspace.run_stack("apply", &["--auto-approve"]);
    let verdict = verdict::judge(&workspace, &disturbed, &again);
    Trial {
        disturbed,
        again,
        verdict,
    }
}

fn disturb(workspace: &Workspace, blow: &Blow, linger: Duration) -> Output {
    let file = |name: &str| Stdio::from(File::create(workspace.path(name)).unwrap());
    let mut command = workspace.command(["apply", "--file", "stack.nix", "--auto-approve"]);
    command.stdout(file("stdout")).stderr(file("stderr"));
    match blow {
        Blow::Order(order) => {
            command.env("NIVIS_FAULT", order);
        }
        Blow::Provider(faults) => workspace.write("faults", faults),
        Blow::Hung(_) => workspace.write("faults", r#"[{"on":"apply","do":"hang"}]"#),
        // The provider takes its time, so that there is something to interrupt.
        Blow::AfterStart(_) | Blow::AfterIntent(_) => {
            workspace.write("faults", r#"[{"on":"apply","do":"slow:8"}]"#);
        }
    }
    // A process group of its own, to find the provider by.
    let mut child = command.process_group(0).spawn().unwrap();
    let group = child.id();
    match blow {
        Blow::AfterStart(time) => std::thread::sleep(*time),
        Blow::AfterIntent(time) => {
            let journal = workspace.path(".nivis/stack/journal.jsonl");
            wait_until(&mut child, || journal.exists());
            std::thread::sleep(*time);
        }
        Blow::Hung(count) => wait_until(&mut child, || {
            let said = fs::read_to_string(workspace.path("stderr")).unwrap();
            said.matches("ing...\n").count() == *count
        }),
        Blow::Order(_) | Blow::Provider(_) => {}
    }
    if !matches!(blow, Blow::Order(_) | Blow::Provider(_)) {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    std::thread::sleep(linger);
    kill_group(group);
    let text = |name: &str| fs::read_to_string(workspace.path(name)).unwrap();
    Output {
        stdout: text("stdout"),
        stderr: text("stderr"),
        code: status.code().or(status.signal().map(|s| 128 + s)).unwrap(),
    }
}

/// Waits for a condition, or for the end of the run.
fn wait_until(child: &mut Child, reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while !reached() && child.try_wait().unwrap().is_none() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it does not come"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn cut(workspace: &Workspace) {
    let path = workspace.path(".nivis/stack/journal.jsonl");
    // A run that does not come to its point ends in order, without a journal.
    let Ok(bytes) = fs::read(&path) else {
        return;
    };
    let mut lines = bytes.split_inclusive(|&b| b == b'\n');
    let last = lines.next_back().map_or(0, <[u8]>::len);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len((bytes.len() - last / 2) as u64).unwrap();
}

/// Ends what is left of a run: providers that it could not end.
#[expect(
    clippy::disallowed_methods,
    reason = "there is no other way to reach a process group"
)]
fn kill_group(group: u32) {
    let mut kill = std::process::Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{group}")]);
    // There may be nobody left.
    drop(kill.stderr(Stdio::null()).status());
}
