//! Schemas by name, of which few are looked at.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;
use std::sync::LazyLock;

use super::schema::Schema;

/// Schemas by the name of the type they describe. Large providers have thousands, of which a stack uses a handful: each is
/// read when it is first asked for.
#[derive(Default)]
pub struct Schemas(BTreeMap<String, LazyLock<Schema, Later>>);

/// Reads a schema.
type Later = Box<dyn FnOnce() -> Schema + Send>;

impl Schemas {
    /// Schemas that are read later, each by its function.
    pub fn later<F>(schemas: impl IntoIterator<Item = (String, F)>) -> Self
    where
        F: FnOnce() -> Schema + Send + 'static,
    {
        let slots = schemas.into_iter().map(|(name, read)| {
            let read: Later = Box::new(read);
            (name, LazyLock::new(read))
        });
        Self(slots.collect())
    }

    /// The schema of that name.
    pub fn get(&self, name: &str) -> Option<&Schema> {
        self.0.get(name).map(LazyLock::force)
    }

    /// Whether there is one of that name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names, in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// All of them, in the order of their names; reads them all.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Schema)> {
        self.0.iter().map(|(name, schema)| (name, &**schema))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Schema)> for Schemas {
    fn from_iter<I: IntoIterator<Item = (String, Schema)>>(schemas: I) -> Self {
        Self::later(schemas.into_iter().map(|(name, s)| (name, move || s)))
    }
}

impl Index<&str> for Schemas {
    type Output = Schema;

    fn index(&self, name: &str) -> &Schema {
        &self.0[name]
    }
}

impl PartialEq for Schemas {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn only_what_is_asked_for_is_read_and_once() {
        let reads = Arc::new(AtomicUsize::new(0));
        let schemas = Schemas::later((0..3).map(|version| {
            let reads = Arc::clone(&reads);
            let read = move || {
                reads.fetch_add(1, Ordering::Relaxed);
                Schema {
                    version,
                    ..Schema::default()
                }
            };
            (format!("x_{version}"), read)
        }));
        assert_eq!(schemas.keys().collect::<Vec<_>>(), ["x_0", "x_1", "x_2"]);
        assert_eq!(reads.load(Ordering::Relaxed), 0);
        assert_eq!(schemas["x_1"].version, 1);
        assert_eq!(schemas.get("x_1").map(|s| s.version), Some(1));
        assert_eq!(schemas.get("x_3"), None);
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }
}
