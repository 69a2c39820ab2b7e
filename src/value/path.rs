//! Paths into values: attribute names, map keys, indices.

use std::convert::Infallible;

use super::{Str, Type, Value};

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// An attribute of an object, or a nested block type.
    Attribute(Str),
    /// A key of a map.
    Key(Str),
    /// A position in a list or tuple.
    Index(u64),
}

/// Where a value sits inside another.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// This value; it may itself be null or unknown.
    Found(&'a Value),
    /// Not decided yet: the path goes through something unknown.
    Unknown,
    /// Nothing: the path goes through null or into a set, or names what is not there.
    NotApplicable,
}

impl<'a> Lookup<'a> {
    /// The value, if one was found.
    pub fn found(self) -> Option<&'a Value> {
        match self {
            Self::Found(v) => Some(v),
            Self::Unknown | Self::NotApplicable => None,
        }
    }
}

impl Path {
    /// The value itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// This path and one attribute step.
    #[must_use]
    pub fn attribute(&self, name: impl Into<Str>) -> Self {
        self.with(Step::Attribute(name.into()))
    }

    /// This path and one index step.
    #[must_use]
    pub fn index(&self, i: u64) -> Self {
        self.with(Step::Index(i))
    }

    /// This path and one map key step.
    #[must_use]
    pub fn key(&self, key: impl Into<Str>) -> Self {
        self.with(Step::Key(key.into()))
    }

    /// This path and one more step.
    #[must_use]
    pub fn with(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// This path followed by `rest`.
    #[must_use]
    pub fn join(&self, rest: &Self) -> Self {
        Self(self.0.iter().chain(&rest.0).cloned().collect())
    }

    /// Whether it is the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `self` leads to `other` or to something that contains it.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// What is left of this path below `prefix`; `None` if it does not start so.
    pub fn strip_prefix(&self, prefix: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(prefix.0.as_slice())?;
        Some(Self(rest.to_vec()))
    }

    /// Follows the path into a value.
    ///
    /// Names of attributes and map keys are interchangeable here, as providers mix them up. Nothing inside a set has a
    /// path.
    pub fn get<'a>(&self, value: &'a Value) -> Lookup<'a> {
        let mut current = value;
        for step in &self.0 {
            let next = match (current, step) {
                (Value::Unknown(unknown), step) => {
                    return if reaches_into(&unknown.ty, step) {
                        Lookup::Unknown
                    } else {
                        Lookup::NotApplicable
                    };
                }
                (Value::Object(entries), Step::Attribute(name) | Step::Key(name)) => {
                    entries.get(name)
                }
                (Value::Map(map), Step::Attribute(name) | Step::Key(name)) => map.entries.get(name),
                (Value::List(list), Step::Index(i)) => at(&list.items, *i),
                (Value::Tuple(items), Step::Index(i)) => at(items, *i),
                // Null, a set, or a step of the wrong kind.
                _ => None,
            };
            match next {
                Some(value) => current = value,
                None => return Lookup::NotApplicable,
            }
        }
        Lookup::Found(current)
    }

    /// Steps joined by dots, the notation of the IR: a step of digits only is an index, any other an attribute name.
    pub fn from_dotted(text: &str) -> Self {
        if text.is_empty() {
            return Self::root();
        }
        let step = |s: &str| match s.parse() {
            Ok(i) if s.bytes().all(|b| b.is_ascii_digit()) => Step::Index(i),
            _ => Step::Attribute(s.into()),
        };
        Self(text.split('.').map(step).collect())
    }
}

fn at(items: &[Value], i: u64) -> Option<&Value> {
    items.get(usize::try_from(i).ok()?)
}

/// Whether a value of this type could have something at `step`.
fn reaches_into(ty: &Type, step: &Step) -> bool {
    match (ty, step) {
        (Type::Dynamic, _)
        | (Type::List(_), Step::Index(_))
        | (Type::Map(_), Step::Attribute(_) | Step::Key(_)) => true,
        (Type::Object(o), Step::Attribute(name) | Step::Key(name)) => {
            o.attributes.contains_key(name)
        }
        (Type::Tuple(items), Step::Index(i)) => usize::try_from(*i).is_ok_and(|i| i < items.len()),
        _ => false,
    }
}

impl std::str::FromStr for Path {
    type Err = Infallible;

    /// As [`Path::from_dotted`].
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::from_dotted(text))
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl std::fmt::Display for Path {
    /// `name.list[0].map["key"]`; nothing for the root.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if i == 0 => f.write_str(name)?,
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::Index(n) => write!(f, "[{n}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        Value::object([
            (
                "list",
                Value::list(
                    Type::String,
                    vec![Value::string("a"), Value::unknown(Type::String)],
                ),
            ),
            (
                "map",
                Value::map(Type::Number, [("k.x", Value::Number(1.into()))]),
            ),
            ("set", Value::set(Type::String, vec![Value::string("a")])),
            ("tuple", Value::tuple(vec![Value::Bool(true)])),
            ("null", Value::null(Type::object([("a", Type::String)]))),
            (
                "unknown",
                Value::unknown(Type::object([("a", Type::list(Type::String))])),
            ),
            ("any", Value::unknown(Type::Dynamic)),
            ("nothing", Value::null(Type::Dynamic)),
        ])
    }

    #[test]
    fn lookup() {
        let value = sample();
        let root = Path::root();
        let kind = |p: &Path| match p.get(&value) {
            Lookup::Found(v) => format!("{v:?}")
                .chars()
                .take_while(|c| c.is_alphabetic())
                .collect(),
            other => format!("{other:?}"),
        };
        for (path, expected) in [
            (root.clone(), "Object"),
            (root.attribute("list").index(0), "String"),
            (root.key("list").index(1), "Unknown"),
            (root.attribute("list").index(2), "NotApplicable"),
            (root.attribute("list").attribute("a"), "NotApplicable"),
            (root.attribute("map").key("k.x"), "Number"),
            (root.attribute("map").attribute("k.x"), "Number"),
            (root.attribute("map").key("no"), "NotApplicable"),
            (root.attribute("set").index(0), "NotApplicable"),
            (root.attribute("tuple").index(0), "Bool"),
            (root.attribute("tuple").index(0).index(0), "NotApplicable"),
            (root.attribute("null"), "Null"),
            (root.attribute("null").attribute("a"), "NotApplicable"),
            (root.attribute("unknown").attribute("a").index(7), "Unknown"),
            (root.attribute("unknown").attribute("b"), "NotApplicable"),
            (root.attribute("any").attribute("b").index(1), "Unknown"),
            (root.attribute("nothing").attribute("b"), "NotApplicable"),
            (root.attribute("missing"), "NotApplicable"),
        ] {
            let found: String = kind(&path);
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn text() {
        let path = Path::from_dotted("tags.0.a-b.01x");
        assert_eq!(path.to_string(), "tags[0].a-b.01x");
        assert_eq!(path.0[1], Step::Index(0));
        assert_eq!(Path::from_dotted(""), Path::root());
        assert_eq!(Path::root().key("a\"b").to_string(), r#"["a\"b"]"#);
    }

    #[test]
    fn prefixes() {
        let a = Path::from_dotted("a");
        let ab = Path::from_dotted("a.b");
        assert!(a.is_prefix_of(&ab) && a.is_prefix_of(&a) && !ab.is_prefix_of(&a));
        assert_eq!(ab.strip_prefix(&a), Some(Path::from_dotted("b")));
        assert_eq!(a.strip_prefix(&ab), None);
        assert_eq!(a.join(&Path::from_dotted("b")), ab);
    }
}
