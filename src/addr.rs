//! Names of things: the ids of resources, data sources, providers and outputs (IR contract, "ids").

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The stable id of a resource (`<provider>.<type>.<name>`) or data source (`data.<provider>.<type>.<name>`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Id {
    fn from(s: T) -> Self {
        Self(s.into())
    }
}

impl Borrow<str> for Id {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
