//! What stands out, and how: labels become colours, or nothing.

/// Why a piece of text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Something that will be there.
    Create,
    /// Something that will be different.
    Update,
    /// Something that will be gone.
    Delete,
    /// Something that is read.
    Read,
    /// A reason for replacement.
    Replace,
    /// Headings and names.
    Strong,
    /// Side remarks.
    Faint,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// Advice.
    Hint,
}

/// How labels look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    color: bool,
}

impl Style {
    /// With ANSI colours, or plain.
    pub fn new(color: bool) -> Self {
        Self { color }
    }

    /// The text as it looks under this label.
    pub fn paint(self, label: Label, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", code(label))
        } else {
            text.to_owned()
        }
    }
}

fn code(label: Label) -> &'static str {
    match label {
        Label::Create => "32",
        Label::Update => "33",
        Label::Read | Label::Hint => "36",
        Label::Delete | Label::Replace => "31",
        Label::Strong => "1",
        Label::Faint => "90",
        Label::Error => "1;31",
        Label::Warning => "1;33",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_style_changes_nothing() {
        assert_eq!(Style::new(false).paint(Label::Create, "+"), "+");
        assert_eq!(
            Style::new(true).paint(Label::Create, "+"),
            "\x1b[32m+\x1b[0m"
        );
    }
}
