//! Choosing a version: the newest that everybody wants and this machine can run.

use std::fmt;

use super::address::Address;
use super::constraint::Constraints;
use super::offer::Offer;
use super::platform::Platform;
use super::version::Version;

/// Plugin protocols that nivis speaks, by their major version.
const PROTOCOLS: [&str; 2] = ["5", "6"];

/// What the providers of a stack that share an address want of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants(pub Vec<Want>);

/// What one provider wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Id of the provider.
    pub provider: String,
    /// Which versions.
    pub constraints: Constraints,
}

impl Wants {
    /// Whether a version is what all of them want.
    pub fn allow(&self, version: &Version) -> bool {
        Constraints::all_of(self.0.iter().map(|want| &want.constraints)).allow(version)
    }

    /// The constraints without who wants them, for the lock file.
    pub fn constraints(&self) -> String {
        let mut all: Vec<String> = self.0.iter().map(|w| w.constraints.to_string()).collect();
        all.retain(|text| !text.is_empty());
        all.sort();
        all.dedup();
        all.join(", ")
    }
}

impl fmt::Display for Wants {
    /// `~> 1.2 (provider.a) and ~> 2.0 (provider.b)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.0.iter().map(|want| {
            let text = want.constraints.to_string();
            let text = if text.is_empty() {
                "any release"
            } else {
                &text
            };
            format!("`{text}` (provider.{})", want.provider)
        });
        let all: Vec<String> = named.collect();
        if all.is_empty() {
            return f.write_str("any release");
        }
        f.write_str(&all.join(" and "))
    }
}

/// No version can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// None is wanted.
    #[error("no version of {address} is {wants}; {}", there_are(.newest))]
    Unwanted {
        /// The provider.
        address: Address,
        /// What is wanted.
        wants: Wants,
        /// The newest there are, newest first.
        newest: Vec<Version>,
    },
    /// None that is wanted runs here.
    #[error("{address} {version}, the newest that is {wants}, is not built for {platform}, but for {}", .platforms.join(", "))]
    Platform {
        /// The provider.
        address: Address,
        /// The newest that is wanted.
        version: Version,
        /// What is wanted.
        wants: Wants,
        /// This machine's platform.
        platform: Platform,
        /// What it is built for.
        platforms: Vec<String>,
    },
    /// None that is wanted speaks a protocol that we do.
    #[error("{address} {version}, the newest that is {wants}, speaks plugin protocol {}; nivis speaks 5 and 6", .protocols.join(", "))]
    Protocol {
        /// The provider.
        address: Address,
        /// The newest that is wanted.
        version: Version,
        /// What is wanted.
        wants: Wants,
        /// What it speaks.
        protocols: Vec<String>,
    },
}

impl SelectError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unwanted { wants, .. } if wants.0.len() > 1 => Some(
                "providers with one source run one version: give them constraints that fit together"
                    .to_owned(),
            ),
            Self::Unwanted { newest, .. } => {
                let newest = newest.first()?;
                if newest.is_prerelease() {
                    return Some(format!(
                        "a pre-release is taken only if it is asked for: version = \"= {newest}\""
                    ));
                }
                let [major, minor, _] = newest.numbers;
                Some(format!("the newest would be version = \"~> {major}.{minor}\""))
            }
            Self::Platform { .. } => {
                Some("choose a version that is, or build the provider and name its path".to_owned())
            }
            Self::Protocol { .. } => Some("choose a newer version".to_owned()),
        }
    }
}

fn there_are(newest: &[Version]) -> String {
    if newest.is_empty() {
        return "it has no versions".to_owned();
    }
    let all: Vec<String> = newest.iter().map(Version::to_string).collect();
    format!("the newest are {}", all.join(", "))
}

/// The newest version that is wanted, speaks a known protocol and is built for the platform.
pub(super) fn select(
    address: &Address,
    wants: &Wants,
    platform: &Platform,
    mut offers: Vec<Offer>,
) -> Result<Version, Box<SelectError>> {
    offers.sort_by(|a, b| b.version.cmp(&a.version));
    let wanted: Vec<&Offer> = offers.iter().filter(|o| wants.allow(&o.version)).collect();
    let Some(newest) = wanted.first() else {
        let newest = offers.into_iter().map(|o| o.version).take(3).collect();
        let (address, wants) = (address.clone(), wants.clone());
        return Err(Box::new(SelectError::Unwanted {
            address,
            wants,
            newest,
        }));
    };
    let spoken = |o: &&&Offer| {
        let known = |p: &String| PROTOCOLS.contains(&p.split('.').next().unwrap_or_default());
        o.protocols.as_ref().is_none_or(|all| all.iter().any(known))
    };
    let built = |o: &&&Offer| {
        o.platforms
            .as_ref()
            .is_none_or(|all| all.contains(platform))
    };
    let best = wanted.iter().filter(spoken).find(built);
    if let Some(best) = best {
        return Ok(best.version.clone());
    }
    let (address, wants, version) = (address.clone(), wants.clone(), newest.version.clone());
    Err(Box::new(if wanted.iter().any(|o| spoken(&o)) {
        let platforms = newest.platforms.iter().flatten();
        SelectError::Platform {
            address,
            version,
            wants,
            platform: platform.clone(),
            platforms: platforms.map(Platform::to_string).collect(),
        }
    } else {
        SelectError::Protocol {
            address,
            version,
            wants,
            protocols: newest.protocols.clone().unwrap_or_default(),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(version: &str, protocol: &str, platform: &str) -> Offer {
        Offer {
            version: version.parse().unwrap(),
            protocols: Some(vec![protocol.to_owned()]),
            platforms: Some(vec![platform.parse().unwrap()]),
        }
    }

    fn wants(all: &[&str]) -> Wants {
        let want = |(i, text): (usize, &&str)| Want {
            provider: format!("p{i}"),
            constraints: text.parse().unwrap(),
        };
        Wants(all.iter().enumerate().map(want).collect())
    }

    #[test]
    fn the_newest_that_fits_is_chosen() {
        let offers = || {
            vec![
                offer("1.9.0", "5.0", "linux_amd64"),
                offer("1.10.0", "6.0", "linux_amd64"),
                offer("1.11.0", "7.0", "linux_amd64"),
                offer("1.12.0", "5.1", "plan9_mips"),
                offer("2.0.0-rc1", "6.0", "linux_amd64"),
                offer("0.1.0", "4.0", "linux_amd64"),
                Offer {
                    version: "0.2.0".parse().unwrap(),
                    protocols: None,
                    platforms: None,
                },
            ]
        };
        let rows: &[(&[&str], &str)] = &[
            (&[], "1.10.0"),
            (&["~> 1.0"], "1.10.0"),
            (&["~> 1.0", "< 1.10"], "1.9.0"),
            (&["= 2.0.0-rc1"], "2.0.0-rc1"),
            (&["< 1.0"], "0.2.0"),
            (
                &[">= 2"],
                "no version of example.org/ns/x is `>= 2.0.0` (provider.p0); the newest are 2.0.0-rc1, 1.12.0, 1.11.0",
            ),
            (
                &["~> 1.0", "~> 2.0"],
                "no version of example.org/ns/x is `~> 1.0` (provider.p0) and `~> 2.0` (provider.p1)",
            ),
            (
                &["1.12.0"],
                "example.org/ns/x 1.12.0, the newest that is `= 1.12.0` (provider.p0), is not built for linux_amd64, but for plan9_mips",
            ),
            (
                &["0.1.0"],
                "speaks plugin protocol 4.0; nivis speaks 5 and 6",
            ),
        ];
        let address = Address::parse("ns/x", "example.org").unwrap();
        let platform = "linux_amd64".parse().unwrap();
        for (constraints, expected) in rows {
            match select(&address, &wants(constraints), &platform, offers()) {
                Ok(version) => assert_eq!(version.to_string(), *expected),
                Err(error) => {
                    assert!(error.to_string().contains(expected), "{error}");
                    assert!(error.hint().is_some());
                }
            }
        }
    }

    #[test]
    fn constraints_for_the_lock_file() {
        assert_eq!(
            wants(&["~> 1.2", ">= 1.3", "~> 1.2"]).constraints(),
            ">= 1.3.0, ~> 1.2"
        );
        assert_eq!(Wants::default().constraints(), "");
    }
}
