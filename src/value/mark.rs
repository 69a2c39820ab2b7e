//! Sensitive marks: the set of paths, kept beside a value and never inside it, so that nothing marked can reach the wire.

use std::collections::BTreeSet;

use super::Path;

/// Paths inside one value that are sensitive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet(pub BTreeSet<Path>);
