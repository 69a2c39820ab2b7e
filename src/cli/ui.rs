//! The only writer of stdout and stderr: data to the one, narrative to the other.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::render::Style;

/// How to talk to the person.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ui {
    color_out: bool,
    color_err: bool,
    ask: bool,
}

impl Ui {
    /// Colour only on terminals, and never if `no_color`. Questions are asked only if both ends are there.
    pub(super) fn new(no_color: bool) -> Self {
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            color_out: out && !no_color,
            color_err: err && !no_color,
            ask: io::stdin().is_terminal(),
        }
    }

    /// Style of what goes to stdout.
    pub(super) fn out_style(self) -> Style {
        Style::new(self.color_out)
    }

    /// Style of what goes to stderr.
    pub(super) fn err_style(self) -> Style {
        Style::new(self.color_err)
    }

    /// Data. A closed pipe (`nivis show | head`) is not an error.
    #[expect(clippy::unused_self, reason = "the handle is the permission to print")]
    pub(super) fn out(self, text: &str) {
        let mut out = io::stdout().lock();
        drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Narrative, one or more whole lines.
    #[expect(clippy::unused_self, reason = "the handle is the permission to print")]
    pub(super) fn err(self, text: &str) {
        let mut err = io::stderr().lock();
        drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
    }

    /// Whether there is somebody to ask.
    pub(super) fn can_ask(self) -> bool {
        self.ask
    }

    /// Asks; only the word `yes` is a yes. End of input is a no.
    pub(super) fn confirm(self, question: &str) -> bool {
        self.err(question);
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim() == "yes"
    }
}
