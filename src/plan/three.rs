//! The prior, configured and planned object side by side.

use super::parts::{entries, items, member};
use crate::value::{Entries, Str, Type, Value};

/// One place in the three objects that are compared.
pub(super) struct Three {
    pub(super) prior: Value,
    pub(super) config: Value,
    pub(super) planned: Value,
}

impl Three {
    pub(super) fn member(&self, name: &str, ty: impl Fn() -> Type) -> Self {
        Self {
            prior: member(&self.prior, name, &ty),
            config: member(&self.config, name, &ty),
            planned: member(&self.planned, name, &ty),
        }
    }

    /// The elements of lists, by the planned ones; where the others have none, null.
    pub(super) fn elements(&self, ty: &Type) -> Vec<Self> {
        let element = |all: &Value, i: usize| match all {
            Value::Unknown(_) => Value::unknown(ty.clone()),
            _ => items(all)
                .get(i)
                .cloned()
                .unwrap_or_else(|| Value::null(ty.clone())),
        };
        (0..items(&self.planned).len())
            .map(|i| Self {
                prior: element(&self.prior, i),
                config: element(&self.config, i),
                planned: element(&self.planned, i),
            })
            .collect()
    }

    /// The elements of maps by key, of each key the planned value has; where the others have none, null.
    pub(super) fn entries(&self, ty: &Type) -> Vec<(Str, Self)> {
        let element = |all: &Value, key: &Str| match all {
            Value::Unknown(_) => Value::unknown(ty.clone()),
            _ => entries(all)
                .and_then(|e| e.get(key))
                .cloned()
                .unwrap_or_else(|| Value::null(ty.clone())),
        };
        let keys = entries(&self.planned).into_iter().flat_map(Entries::names);
        keys.map(|key| {
            let three = Self {
                prior: element(&self.prior, key),
                config: element(&self.config, key),
                planned: element(&self.planned, key),
            };
            (key.clone(), three)
        })
        .collect()
    }

    /// Whether the planned value has exactly the keys that are configured.
    pub(super) fn same_keys(&self) -> bool {
        let keys = |v| {
            entries(v)
                .map(|e| e.names().cloned().collect())
                .unwrap_or_default()
        };
        let (config, planned): (Vec<Str>, Vec<Str>) = (keys(&self.config), keys(&self.planned));
        self.config.is_known() && config == planned
    }
}
