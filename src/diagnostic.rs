//! A problem told to a person: severity, summary, detail, and where.

use std::fmt;

use crate::value::Path;

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The operation cannot go on.
    Error,
    /// It can, but the person should know.
    Warning,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line: what is wrong.
    pub summary: String,
    /// More about it, possibly several lines; may be empty.
    pub detail: String,
    /// The resource, data source, provider or output concerned, by its id.
    pub address: Option<String>,
    /// Where inside its configuration.
    pub path: Option<Path>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error with this summary.
    pub fn error(summary: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary.into())
    }

    /// A warning with this summary.
    pub fn warning(summary: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary.into())
    }

    fn new(severity: Severity, summary: String) -> Self {
        Self {
            severity,
            summary,
            detail: String::new(),
            address: None,
            path: None,
            hint: None,
        }
    }

    /// With more to say.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// About this address, unless it names one already.
    #[must_use]
    pub fn at(mut self, address: impl Into<String>) -> Self {
        self.address.get_or_insert_with(|| address.into());
        self
    }

    /// About this place in the configuration.
    #[must_use]
    pub fn path(mut self, path: Path) -> Self {
        self.path = Some(path);
        self
    }

    /// With advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the one of `known` as advice that `wrong` was most likely meant to be, if there is one.
    #[must_use]
    pub fn suggest<'a>(self, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(wrong, known) {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    /// `address: path: summary: detail`, on one line as far as the parts are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(address) = &self.address {
            write!(f, "{address}: ")?;
        }
        if let Some(path) = self.path.as_ref().filter(|p| !p.0.is_empty()) {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.summary)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Problems in the order they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of another list, each about `address` unless it names one already.
    pub fn extend_at(&mut self, other: Self, address: &str) {
        self.0.extend(other.0.into_iter().map(|d| d.at(address)));
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The same, each about `path` unless it names a place already.
    #[must_use]
    pub fn at_path(mut self, path: &Path) -> Self {
        for diagnostic in &mut self.0 {
            diagnostic.path.get_or_insert_with(|| path.clone());
        }
        self
    }

    /// Errors first, each kind by address and path, no duplicates: the form to show.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.0.sort();
        self.0.dedup();
        self
    }

    /// `Ok(warnings)` without errors, else all of them.
    pub fn into_result(self) -> Result<Self, Self> {
        if self.has_errors() {
            Err(self)
        } else {
            Ok(self)
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            d.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The one of `known` most like `wrong`, if any is like enough to be what was meant.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| distance * 3 <= wrong.len().max(name.len()))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_name_is_near() {
        let known = ["length", "prefix", "separator"];
        for (wrong, expected) in [
            ("lenght", Some("length")),
            ("Prefix", Some("prefix")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), expected, "{wrong}");
        }
    }
}
