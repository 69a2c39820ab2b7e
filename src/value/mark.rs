//! Sensitive marks: the set of paths, kept beside a value and never inside it, so that nothing marked can reach the wire.

use std::collections::BTreeSet;

use super::Path;

/// Paths inside one value that are sensitive. A marked path covers everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet(pub BTreeSet<Path>);

impl PathSet {
    /// No paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths in order.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter()
    }

    /// Adds a path; false if it was there.
    pub fn insert(&mut self, path: Path) -> bool {
        self.0.insert(path)
    }

    /// Whether this very path is in the set.
    pub fn contains(&self, path: &Path) -> bool {
        self.0.contains(path)
    }

    /// Whether the path or one that contains it is in the set.
    pub fn covers(&self, path: &Path) -> bool {
        (0..=path.0.len()).any(|n| self.0.contains(&Path(path.0[..n].to_vec())))
    }

    /// Whether the path, one that contains it, or one inside it is in the set.
    pub fn touches(&self, path: &Path) -> bool {
        self.covers(path) || self.below(path).next().is_some()
    }

    /// The paths that are `path` or inside it.
    fn below<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Path> {
        // Paths sort so that those with a common prefix are neighbours.
        self.0.range(path..).take_while(|p| path.is_prefix_of(p))
    }

    /// The marks of the part at `path`, relative to it; the part's root is marked if something containing it is.
    #[must_use]
    pub fn strip_prefix(&self, path: &Path) -> Self {
        if self.covers(path) {
            return Self::from_iter([Path::root()]);
        }
        self.below(path)
            .filter_map(|p| p.strip_prefix(path))
            .collect()
    }

    /// The marks of a whole of which this set's value is the part at `path`.
    #[must_use]
    pub fn with_prefix(&self, path: &Path) -> Self {
        self.0.iter().map(|p| path.join(p)).collect()
    }

    /// The paths of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.0.union(&other.0).cloned().collect()
    }
}

impl FromIterator<Path> for PathSet {
    fn from_iter<I: IntoIterator<Item = Path>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}

impl Extend<Path> for PathSet {
    fn extend<I: IntoIterator<Item = Path>>(&mut self, paths: I) {
        self.0.extend(paths);
    }
}

impl IntoIterator for PathSet {
    type Item = Path;
    type IntoIter = std::collections::btree_set::IntoIter<Path>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> PathSet {
        paths.iter().map(|p| Path::from_dotted(p)).collect()
    }

    #[test]
    fn membership() {
        let marks = set(&["a.b", "c", "ab"]);
        for (path, contains, covers, touches) in [
            ("", false, false, true),
            ("a", false, false, true),
            ("a.b", true, true, true),
            ("a.b.0", false, true, true),
            ("a.c", false, false, false),
            ("c.0.x", false, true, true),
            ("abc", false, false, false),
        ] {
            let path = Path::from_dotted(path);
            assert_eq!(marks.contains(&path), contains, "{path}");
            assert_eq!(marks.covers(&path), covers, "{path}");
            assert_eq!(marks.touches(&path), touches, "{path}");
        }
        assert!(set(&[""]).covers(&Path::from_dotted("x.y")));
    }

    #[test]
    fn moving() {
        let marks = set(&["a.b", "a.c.0", "d"]);
        assert_eq!(
            marks.strip_prefix(&Path::from_dotted("a")),
            set(&["b", "c.0"])
        );
        assert_eq!(marks.strip_prefix(&Path::from_dotted("d.e")), set(&[""]));
        assert_eq!(marks.strip_prefix(&Path::from_dotted("x")), PathSet::new());
        assert_eq!(
            set(&["b", ""]).with_prefix(&Path::from_dotted("a.0")),
            set(&["a.0.b", "a.0"])
        );
        assert_eq!(set(&["a"]).union(&set(&["b"])), set(&["a", "b"]));
    }
}
