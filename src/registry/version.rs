//! Version numbers of providers and their order (<https://semver.org>).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A semantic version. Equality includes the build part, which says nothing about the order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// Major, minor, patch.
    pub numbers: [u64; 3],
    /// What stands behind `-`; empty for a release.
    pub pre: String,
    /// What stands behind `+`.
    pub build: String,
}

/// A text is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no version of the form 1.2.3")]
pub struct VersionError(pub String);

impl Version {
    /// Whether it comes before the release it is named after.
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }

    /// Which of two versions is newer. Builds of one version are as new as each other.
    pub fn precedence(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                (false, false) => by_identifiers(&self.pre, &other.pre),
                (release, other_release) => release.cmp(&other_release),
            }
        })
    }

    /// Reads a version with one to three numbers; how many there were comes with it.
    pub(super) fn parse_partial(text: &str) -> Result<(Self, usize), VersionError> {
        let wrong = || VersionError(text.to_owned());
        let (rest, build) = text.split_once('+').unwrap_or((text, ""));
        let (core, pre) = rest.split_once('-').unwrap_or((rest, ""));
        let ends_bare = (rest.len() < text.len() && build.is_empty())
            || (core.len() < rest.len() && pre.is_empty());
        if ends_bare || ![build, pre].into_iter().all(are_identifiers) {
            return Err(wrong());
        }
        let mut numbers = [0; 3];
        let mut count = 0;
        for part in core.split('.') {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            let slot = numbers.get_mut(count).filter(|_| digits);
            *slot.ok_or_else(wrong)? = part.parse().map_err(|_| wrong())?;
            count += 1;
        }
        let (pre, build) = (pre.to_owned(), build.to_owned());
        let version = Self {
            numbers,
            pre,
            build,
        };
        Ok((version, count))
    }
}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads `1.2.3`, `1.2.3-beta.1`, `1.2.3+build`.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        match Self::parse_partial(text)? {
            (version, 3) => Ok(version),
            _ => Err(VersionError(text.to_owned())),
        }
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    /// By precedence; builds of one version by their text, so that the order is total.
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other)
            .then_with(|| self.build.cmp(&other.build))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        for (mark, part) in [('-', &self.pre), ('+', &self.build)] {
            if !part.is_empty() {
                write!(f, "{mark}{part}")?;
            }
        }
        Ok(())
    }
}

/// Nothing, or identifiers joined by dots.
fn are_identifiers(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    text.is_empty()
        || text
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(fits))
}

/// Identifier by identifier: numbers by value and before words, words by their bytes, the longer list last.
fn by_identifiers(a: &str, b: &str) -> Ordering {
    let mut others = b.split('.');
    for own in a.split('.') {
        let Some(other) = others.next() else {
            return Ordering::Greater;
        };
        let order = match (own.parse::<u64>(), other.parse::<u64>()) {
            (Ok(own), Ok(other)) => own.cmp(&other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => own.cmp(other),
        };
        if order.is_ne() {
            return order;
        }
    }
    others.next().map_or(Ordering::Equal, |_| Ordering::Less)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered() {
        let ascending = [
            "0.9.10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.0+a",
            "1.0.0+b",
            "1.2.0",
            "1.10.0",
        ];
        let versions: Vec<Version> = ascending.iter().map(|v| v.parse().unwrap()).collect();
        assert!(versions.is_sorted(), "{versions:?}");
        for (text, version) in ascending.iter().zip(&versions) {
            assert_eq!(version.to_string(), *text);
        }
        assert!(versions[8].precedence(&versions[9]).is_eq());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "v1.2.3",
            "1.2.x",
            "1..3",
            "1.2.3-",
            "1.2.3+",
            "1.2.3-a..b",
            "1.2.3-ü",
            "+1.2.3",
            "99999999999999999999.0.0",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
