//! What is wrong with an IR document, and at which element.

use std::fmt;

use crate::diagnostic::{self, Diagnostic, Diagnostics};

/// One problem with one element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("at {at}: {message}")]
pub struct IrError {
    /// JSON pointer of the element without the leading slash, `<root>` for the document.
    pub at: String,
    /// What is wrong.
    pub message: String,
    /// Id of the resource, data source, provider or consumer that holds the element.
    pub owner: Option<String>,
}

impl IrError {
    pub(super) fn new(at: &At, message: impl Into<String>) -> Self {
        Self {
            at: on_one_line(at.to_string()),
            message: on_one_line(message.into()),
            owner: None,
        }
    }
}

/// The text with control characters written as `\u` and four digits: names come from the document, errors go to a terminal.
fn on_one_line(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let visible = |c: char| match c {
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(visible).collect()
}

/// All that is wrong with a document, sorted by element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct IrErrors(pub Vec<IrError>);

impl fmt::Display for IrErrors {
    /// One line per problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let end = if i == 0 { "" } else { "\n" };
            write!(f, "{end}{error}")?;
        }
        Ok(())
    }
}

impl From<IrError> for Diagnostic {
    fn from(error: IrError) -> Self {
        let diagnostic = Self::error(format!("malformed IR: {error}"));
        match error.owner {
            Some(owner) => diagnostic.at(owner),
            None => diagnostic,
        }
    }
}

impl From<IrErrors> for Diagnostics {
    fn from(errors: IrErrors) -> Self {
        Self(errors.0.into_iter().map(Diagnostic::from).collect())
    }
}

/// The way from the document to an element. Lives on the stack; becomes text only for a message.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Root,
    Key(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    pub(super) fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = match self {
            Self::Root => return f.write_str("<root>"),
            Self::Key(parent, _) | Self::Index(parent, _) => parent,
        };
        if !matches!(parent, Self::Root) {
            write!(f, "{parent}/")?;
        }
        match self {
            Self::Key(_, key) => f.write_str(&key.replace('~', "~0").replace('/', "~1")),
            Self::Index(_, index) => write!(f, "{index}"),
            Self::Root => Ok(()),
        }
    }
}

/// `; did you mean 'x'?` with the candidate that is most like `word`, or nothing.
pub(super) fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match diagnostic::nearest(word, candidates) {
        Some(near) => format!("; did you mean '{near}'?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers() {
        let providers = At::Root.key("providers");
        assert_eq!(At::Root.to_string(), "<root>");
        assert_eq!(providers.key("a/b~c").to_string(), "providers/a~1b~0c");
        let odd = IrError::new(&At::Root.key("a\nb"), "no '\u{1b}\u{85}é'");
        assert_eq!(odd.to_string(), r"at a\u000ab: no '\u001b\u0085é'");
        assert_eq!(providers.index(3).key("x").to_string(), "providers/3/x");
    }
}
