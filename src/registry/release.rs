//! A version of a provider.

use std::fmt;

use super::address::Address;
use super::version::Version;

/// Which provider, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// The provider.
    pub address: Address,
    /// The version.
    pub version: Version,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.address, self.version)
    }
}
