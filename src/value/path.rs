//! Paths into values: attribute names, map keys, indices.

use super::Str;

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
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
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
