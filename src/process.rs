//! Start child processes and wait for them; the one place that does so synchronously.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::ExitStatus;

/// How many of the last lines on stderr an error keeps.
const TAIL_LINES: usize = 30;

/// Longest line that is kept in one piece, in bytes.
const LINE_LIMIT: u64 = 64 * 1024;

/// A child that could not be started or that failed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such program.
    #[error("program `{program}` not found in PATH ({path})")]
    NotFound {
        /// What was looked for.
        program: String,
        /// The folders that were searched, as PATH lists them.
        path: String,
    },
    /// The system could not run it, or lost it.
    #[error("cannot run `{command}`: {source}")]
    Run {
        /// The command line, quoted for a shell.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// It ended with a failure.
    #[error("`{command}` {}{}", describe(*status), indented(stderr_tail))]
    Failed {
        /// The command line, quoted for a shell.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines it wrote to stderr.
        stderr_tail: String,
    },
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended without a status".to_owned(),
    }
}

/// The lines of `text`, each on a line of its own, set in by two spaces.
pub(crate) fn indented(text: &str) -> String {
    let lines = text.lines().flat_map(|line| ["\n  ", line]);
    lines.collect()
}

/// A command line under construction. Nothing in it is ever read by a shell.
#[derive(Clone, Debug)]
pub struct Command {
    program: PathBuf,
    args: Vec<Arg>,
    env: Vec<(OsString, Option<OsString>)>,
    dir: Option<PathBuf>,
}

#[derive(Clone, Debug)]
struct Arg {
    value: OsString,
    /// What messages show in its place.
    shown: Option<&'static str>,
}

/// How a child ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Everything it wrote to stdout.
    pub stdout: Vec<u8>,
}

impl Command {
    /// A command that runs the program at `program`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            dir: None,
        }
    }

    /// A command that runs the program of this name, found where a shell would find it.
    pub fn find(name: &str) -> Result<Self, ProcessError> {
        which::which(name)
            .map(Self::new)
            .map_err(|_| ProcessError::NotFound {
                program: name.to_owned(),
                path: search_path(),
            })
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, value: impl Into<OsString>) -> Self {
        self.args.push(Arg {
            value: value.into(),
            shown: None,
        });
        self
    }

    /// Adds an argument that is too long to be shown; messages say `shown` instead.
    #[must_use]
    pub fn long_arg(mut self, value: impl Into<OsString>, shown: &'static str) -> Self {
        self.args.push(Arg {
            value: value.into(),
            shown: Some(shown),
        });
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(self, values: impl IntoIterator<Item = A>) -> Self {
        values.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of the child's environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Takes a variable out of the child's environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Runs the child in this folder.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Runs it; stdin is empty. Returns its stdout; a status other than success is an error.
    pub fn output(&self) -> Result<Vec<u8>, ProcessError> {
        let mut tail = Tail::default();
        let finished = self.run(&mut |line| tail.push(line))?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        Err(ProcessError::Failed {
            command: self.to_string(),
            status: finished.status,
            stderr_tail: tail.text(),
        })
    }

    /// Runs it with an empty stdin, gives each line of stderr to `on_stderr` as it comes, and waits for the end, whatever
    /// the status.
    pub fn run(&self, on_stderr: &mut dyn FnMut(&str)) -> Result<Finished, ProcessError> {
        self.start()
            .and_then(|child| child.wait(on_stderr))
            .map_err(|source| ProcessError::Run {
                command: self.to_string(),
                source,
            })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts children and waits for them"
    )]
    fn start(&self) -> io::Result<Child> {
        let (stderr, writer) = io::pipe()?;
        let args = self.args.iter().map(|arg| &arg.value);
        let mut expression = duct::cmd(&self.program, args)
            .stdin_null()
            .stdout_capture()
            .stderr_file(writer)
            .unchecked();
        for (name, value) in &self.env {
            expression = match value {
                Some(value) => expression.env(name, value),
                None => expression.env_remove(name),
            };
        }
        if let Some(dir) = &self.dir {
            expression = expression.dir(dir);
        }
        // The pipe ends when the child does: the expression, dropped here, holds the other copy of its writing end.
        let handle = expression.start()?;
        Ok(Child { handle, stderr })
    }
}

impl fmt::Display for Command {
    /// The command line as one would type it into a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote(self.program.as_os_str()))?;
        for arg in &self.args {
            match arg.shown {
                Some(shown) => write!(f, " {shown}")?,
                None => write!(f, " {}", quote(&arg.value))?,
            }
        }
        Ok(())
    }
}

/// A running child, killed when it is dropped before its end.
struct Child {
    handle: duct::Handle,
    stderr: io::PipeReader,
}

impl Child {
    fn wait(self, on_stderr: &mut dyn FnMut(&str)) -> io::Result<Finished> {
        read_lines(&self.stderr, on_stderr)?;
        let output = self.handle.wait()?;
        Ok(Finished {
            status: output.status,
            stdout: output.stdout.clone(),
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.handle.kill();
    }
}

/// Calls `on_line` with each line; a line longer than [`LINE_LIMIT`] comes in pieces.
fn read_lines(source: impl Read, on_line: &mut dyn FnMut(&str)) -> io::Result<()> {
    let mut reader = BufReader::new(source);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader
            .by_ref()
            .take(LINE_LIMIT)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        on_line(text.trim_end_matches(['\n', '\r']));
    }
}

/// The last lines of a stream.
#[derive(Debug, Default)]
pub struct Tail(std::collections::VecDeque<String>);

impl Tail {
    /// Adds a line, forgets the oldest when there are too many.
    pub fn push(&mut self, line: &str) {
        if self.0.len() == TAIL_LINES {
            self.0.pop_front();
        }
        self.0.push_back(line.to_owned());
    }

    /// The lines, joined.
    pub fn text(self) -> String {
        Vec::from(self.0).join("\n")
    }
}

/// `text` as one word of a shell command line.
fn quote(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "shown to explain where a program was looked for"
)]
fn search_path() -> String {
    std::env::var_os("PATH")
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn sh(script: &str) -> Command {
        Command::find("sh").unwrap().arg("-c").arg(script)
    }

    #[test]
    fn arguments_reach_the_child_as_they_are() {
        let odd = ["a b", "", "$HOME", "'", "\"", "*", "ü\n\\"];
        let out = sh(r#"for a in "$@"; do printf '%s|' "$a"; done"#)
            .arg("sh")
            .args(odd)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), odd.join("|") + "|");
    }

    #[test]
    fn a_command_line_is_shown_quoted() {
        let command = Command::new("/bin/x")
            .args(["plain", "two words", "", "it's", "$x"])
            .long_arg("very long", "«text»");
        assert_eq!(
            command.to_string(),
            r"/bin/x plain 'two words' '' 'it'\''s' '$x' «text»"
        );
    }

    #[test]
    fn environment_folder_and_stdin_are_what_was_asked_for() {
        let out = sh("echo $A; echo ${HOME-none}; pwd; cat")
            .env("A", "1")
            .env_remove("HOME")
            .dir("/")
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "1\nnone\n/\n");
    }

    #[test]
    fn a_failure_keeps_command_status_and_last_words() {
        let error = sh("echo one >&2; printf two >&2; exit 3")
            .output()
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.ends_with("' failed with exit code 3\n  one\n  two")
                || text.ends_with("'` failed with exit code 3\n  one\n  two"),
            "{text}"
        );
        let killed = sh("kill -9 $$").output().unwrap_err();
        assert!(
            killed.to_string().ends_with("was killed by signal 9"),
            "{killed}"
        );
    }

    #[test]
    fn a_missing_program_names_where_it_was_looked_for() {
        let error = Command::find("no-such-program").unwrap_err().to_string();
        assert!(
            error.starts_with("program `no-such-program` not found in PATH (/"),
            "{error}"
        );
        let error = Command::new("/no/such").output().unwrap_err().to_string();
        assert!(error.starts_with("cannot run `/no/such`: "), "{error}");
    }

    #[test]
    fn stderr_comes_line_by_line_while_the_child_runs() {
        let start = Instant::now();
        let mut first = None;
        let mut lines = Vec::new();
        let finished = sh("echo a >&2; sleep 0.5; echo b >&2; echo out")
            .run(&mut |line| {
                first.get_or_insert_with(|| start.elapsed());
                lines.push(line.to_owned());
            })
            .unwrap();
        assert_eq!(lines, ["a", "b"]);
        assert_eq!(finished.stdout, b"out\n");
        assert!(first.unwrap() < Duration::from_millis(450));
    }

    #[test]
    fn much_output_on_both_streams_does_not_block() {
        let mut count = 0;
        let finished =
            sh("i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo x >&2; i=$((i+1)); done")
                .run(&mut |_| count += 1)
                .unwrap();
        assert_eq!((count, finished.stdout.len()), (20_000, 220_000));
    }

    #[test]
    fn a_child_dies_with_its_owner() {
        let child = sh("exec sleep 60").start().unwrap();
        let pid = child.handle.pids()[0];
        drop(child);
        let deadline = Instant::now() + Duration::from_secs(5);
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        };
        while !gone() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(gone());
    }
}
