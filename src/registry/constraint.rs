//! Version constraints, as OpenTofu reads them: `>= 1.2, < 2.0, != 1.5.3`.

use std::fmt;
use std::str::FromStr;

use super::version::{Version, VersionError};

/// What a version must be like: all of the constraints hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    all: Vec<Constraint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Constraint {
    op: Op,
    version: Version,
    /// How many numbers were written.
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Pessimistic,
}

/// Longer signs first.
const OPS: [(&str, Op); 7] = [
    ("!=", Op::NotEqual),
    (">=", Op::GreaterOrEqual),
    ("<=", Op::LessOrEqual),
    ("~>", Op::Pessimistic),
    ("=", Op::Equal),
    (">", Op::Greater),
    ("<", Op::Less),
];

/// A text is no list of constraints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// There is nothing between two commas, or at all.
    #[error("a version constraint is empty")]
    Empty,
    /// What follows the operator is no version.
    #[error("version constraint {text:?}: {source}")]
    Version {
        /// The constraint.
        text: String,
        /// What is wrong.
        source: VersionError,
    },
}

impl ConstraintError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Version { source, .. } if source.0.starts_with('v') => {
                "leave out the `v`".to_owned()
            }
            Self::Version { source, .. } if source.0.starts_with(['>', '<']) => {
                "the operators are =, !=, >, >=, <, <= and ~>".to_owned()
            }
            _ => "write for example \"~> 3.6\", or \">= 1.2, < 2.0\"".to_owned(),
        }
    }
}

impl Constraints {
    /// All the constraints of several lists.
    pub fn all_of<'a>(lists: impl Iterator<Item = &'a Self>) -> Self {
        Self {
            all: lists.flat_map(|list| list.all.iter().cloned()).collect(),
        }
    }

    /// Whether a version is what they ask for. A pre-release is only if one of them is `=` that very version.
    pub fn allow(&self, version: &Version) -> bool {
        let exact = |c: &Constraint| c.op == Op::Equal && c.version == *version;
        self.all.iter().all(|c| c.holds(version))
            && (!version.is_prerelease() || self.all.iter().any(exact))
    }
}

impl Constraint {
    fn holds(&self, version: &Version) -> bool {
        let order = version.precedence(&self.version);
        match self.op {
            Op::Equal => *version == self.version,
            Op::NotEqual => *version != self.version,
            Op::Less => order.is_lt(),
            Op::LessOrEqual => order.is_le(),
            Op::Greater => order.is_gt(),
            Op::GreaterOrEqual => order.is_ge(),
            // The last number written may grow, but for a lone major version, whose minor may.
            Op::Pessimistic => {
                let fixed = self.count.saturating_sub(1).max(1);
                let (numbers, limit) = (&version.numbers, &self.version.numbers);
                order.is_ge() && numbers[..fixed] == limit[..fixed]
            }
        }
    }
}

impl FromStr for Constraints {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let all = text.split(',').map(|part| {
            let part = part.trim();
            if part.is_empty() {
                return Err(ConstraintError::Empty);
            }
            let signed = OPS
                .iter()
                .find_map(|(sign, op)| Some((*op, part.strip_prefix(sign)?)));
            let (op, rest) = signed.unwrap_or((Op::Equal, part));
            let (version, count) = Version::parse_partial(rest.trim_start()).map_err(|source| {
                let text = part.to_owned();
                ConstraintError::Version { text, source }
            })?;
            Ok(Constraint { op, version, count })
        });
        Ok(Self {
            all: all.collect::<Result<_, _>>()?,
        })
    }
}

impl fmt::Display for Constraints {
    /// In one spelling: `>= 1.2, < 2.0.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Constraint { op, version, count }) in self.all.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let sign = OPS.iter().find(|(_, o)| o == op).map_or("", |(s, _)| s);
            // Two numbers of `~> 1.2` mean something else than three.
            let text = match (op, count) {
                (Op::Pessimistic, 1 | 2) if version.pre.is_empty() => {
                    let [major, minor, _] = version.numbers;
                    format!("{major}.{minor}")
                }
                _ => version.to_string(),
            };
            write!(f, "{comma}{sign} {text}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_choose_versions() {
        let versions = [
            "0.9.0",
            "1.0.0",
            "1.2.0-beta1",
            "1.2.0",
            "1.2.0+x",
            "1.2.5",
            "1.3.0-rc1",
            "1.3.0",
            "2.0.0",
        ];
        let rows: &[(&str, &[&str])] = &[
            ("1.2", &["1.2.0"]),
            ("= 1.2.0", &["1.2.0"]),
            ("=1.2.0+x", &["1.2.0+x"]),
            ("!= 1.2.0, >= 1.2", &["1.2.0+x", "1.2.5", "1.3.0", "2.0.0"]),
            ("> 1.2.0", &["1.2.5", "1.3.0", "2.0.0"]),
            ("< 1.2", &["0.9.0", "1.0.0"]),
            ("<= 1.0.0", &["0.9.0", "1.0.0"]),
            ("~> 1", &["1.0.0", "1.2.0", "1.2.0+x", "1.2.5", "1.3.0"]),
            ("~> 1.2", &["1.2.0", "1.2.0+x", "1.2.5", "1.3.0"]),
            ("~> 1.2.0", &["1.2.0", "1.2.0+x", "1.2.5"]),
            ("~> 0.9", &["0.9.0"]),
            ("= 1.2.0-beta1", &["1.2.0-beta1"]),
            ("1.2.0-beta1, < 1.2", &["1.2.0-beta1"]),
            (">= 1.2.0-beta1, < 1.2.0", &[]),
            ("~> 1.3.0-rc1", &["1.3.0"]),
            (">= 3", &[]),
        ];
        for (text, expected) in rows {
            let constraints: Constraints = text.parse().unwrap();
            let again: Constraints = constraints.to_string().parse().unwrap();
            for constraints in [constraints, again] {
                let chosen: Vec<_> = versions
                    .iter()
                    .filter(|v| constraints.allow(&v.parse().unwrap()))
                    .copied()
                    .collect();
                assert_eq!(chosen, *expected, "{text}, {constraints}");
            }
        }
        let none = Constraints::default();
        assert!(none.allow(&"1.0.0".parse().unwrap()));
        assert!(!none.allow(&"1.0.0-a".parse().unwrap()));
    }

    #[test]
    fn other_texts_are_refused_with_advice() {
        let rows = [
            ("", "for example"),
            (">= 1.0,", "for example"),
            ("v1.0", "the `v`"),
            (">> 1.0", "the operators"),
            ("=> 1.0", "the operators"),
            ("^1.0", "for example"),
            ("1.x", "for example"),
            ("1.2.3.4", "for example"),
            (">= 1.0 < 2.0", "for example"),
        ];
        for (text, hint) in rows {
            let error = text.parse::<Constraints>().unwrap_err();
            assert!(error.hint().contains(hint), "{text}: {error}");
        }
    }
}
