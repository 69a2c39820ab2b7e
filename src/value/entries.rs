//! Values by name.

use super::{Str, Value};

/// Values by name, names sorted bytewise and unique.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entries(Vec<(Str, Value)>);

impl Entries {
    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .binary_search_by(|(k, _)| (**k).cmp(name))
            .ok()
            .map(|i| &self.0[i].1)
    }

    /// The value of that name, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0
            .binary_search_by(|(k, _)| (**k).cmp(name))
            .ok()
            .map(|i| &mut self.0[i].1)
    }

    /// Sets a value; gives back the one it replaced.
    pub fn insert(&mut self, name: Str, value: Value) -> Option<Value> {
        match self.0.binary_search_by(|(k, _)| k.cmp(&name)) {
            Ok(i) => Some(std::mem::replace(&mut self.0[i].1, value)),
            Err(i) => {
                self.0.insert(i, (name, value));
                None
            }
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let i = self.0.binary_search_by(|(k, _)| (**k).cmp(name)).ok()?;
        Some(self.0.remove(i).1)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> + Clone {
        self.0.iter().map(|(k, v)| (k, v))
    }

    /// Names in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Str> {
        self.0.iter().map(|(k, _)| k)
    }

    /// Values in the order of their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.0.iter().map(|(_, v)| v)
    }

    /// Values in the order of their names, to change them.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Value> {
        self.0.iter_mut().map(|(_, v)| v)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Str, Value)> for Entries {
    /// Sorts; of equal names the last wins.
    fn from_iter<I: IntoIterator<Item = (Str, Value)>>(iter: I) -> Self {
        let mut all: Vec<_> = iter.into_iter().collect();
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            all.reverse();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all.dedup_by(|a, b| a.0 == b.0);
        }
        Self(all)
    }
}

impl IntoIterator for Entries {
    type Item = (Str, Value);
    type IntoIter = std::vec::IntoIter<(Str, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
