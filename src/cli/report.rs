//! Errors and warnings for people, and exit codes: the one place where both are decided.

use std::process::ExitCode;

use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::render::{Label, Style};

/// How a command ended (docs/reference/exit-codes.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Done.
    Success,
    /// Something failed; what was done until then is in the state.
    Failure,
    /// `plan --detailed-exitcode`: there are changes.
    Changes,
    /// The command line is wrong; nothing was done.
    Usage,
    /// Interrupted; what was done until then is in the state.
    Interrupted,
}

impl Exit {
    /// The number.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Changes => 2,
            Self::Usage => 64,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Shows problems on stderr, errors first.
pub(super) fn show(ui: Ui, diagnostics: Diagnostics) {
    let style = ui.err_style();
    for diagnostic in diagnostics.sorted().0 {
        ui.err(&text(style, &diagnostic));
    }
}

fn text(style: Style, diagnostic: &Diagnostic) -> String {
    let (word, label) = match diagnostic.severity {
        Severity::Error => ("error", Label::Error),
        Severity::Warning => ("warning", Label::Warning),
    };
    let mut text = format!(
        "{}: {}\n",
        style.paint(label, word),
        style.paint(Label::Strong, &diagnostic.summary)
    );
    if let Some(address) = &diagnostic.address {
        let place = match diagnostic.path.as_ref().filter(|p| !p.0.is_empty()) {
            Some(path) => format!("{address}, at {path}"),
            None => address.clone(),
        };
        text.push_str(&format!("  with {place}\n"));
    }
    for line in diagnostic.detail.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    for line in diagnostic.hint.iter().flat_map(|h| h.lines()) {
        text.push_str(&format!("  {}: {line}\n", style.paint(Label::Hint, "hint")));
    }
    text
}
