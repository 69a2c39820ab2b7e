//! What a run of the binary printed.

use std::fmt;

/// Output of one run, with paths of the workspace replaced, so that it can be compared with recorded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// Data.
    pub(crate) stdout: String,
    /// Narrative.
    pub(crate) stderr: String,
    /// Exit code; 128 + the signal's number if one killed the run.
    pub(crate) code: i32,
}

impl Output {
    /// The run, which must have ended with exit code 0.
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        self.exits(0)
    }

    /// The run, which must have ended with this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "unexpected exit code\n{self}");
        self
    }

    /// The run, whose stdout and stderr together must contain `text`.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let said = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(said, "{text:?} is missing\n{self}");
        self
    }

    /// The run, neither of whose streams may contain `text`.
    #[track_caller]
    #[expect(clippy::wrong_self_convention, reason = "reads on in a chain")]
    pub(crate) fn is_silent_about(self, text: &str) -> Self {
        let said = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(!said, "{text:?} is there\n{self}");
        self
    }

    /// Stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("stdout is not JSON: {error}\n{self}"),
        }
    }
}

impl fmt::Display for Output {
    /// Everything, for snapshots and failed assertions. A line ends in `⏎` where it would end in a blank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            writeln!(f, "----- {name} -----")?;
            for line in text.lines() {
                let end = if line.ends_with([' ', '\t']) {
                    "⏎"
                } else {
                    ""
                };
                writeln!(f, "{line}{end}")?;
            }
        }
        writeln!(f, "----- exit code {} -----", self.code)
    }
}
