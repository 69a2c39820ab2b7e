//! What a type of resource or data source inside nivis has to say about itself.
//!
//! Objects are values of the implied type of the type's schema.

use crate::diagnostic::Diagnostics;
use crate::schema::Block;
use crate::value::{Path, Value};

/// A type of managed resource.
pub(super) trait Resource: Send + Sync {
    /// What it accepts.
    fn schema(&self) -> Block;

    /// Problems of a configuration; parts of it may be unknown.
    fn validate(&self, config: &Value) -> Diagnostics;

    /// What a change will lead to.
    fn plan(&self, change: &Change<'_>) -> Plan;

    /// Makes the object as planned: `prior` is `None` to create it. The result has no unknowns.
    fn apply(&self, prior: Option<&Value>, planned: &Value) -> Result<Value, Diagnostics>;

    /// Unmakes the object.
    fn delete(&self, object: &Value) -> Result<(), Diagnostics>;

    /// The object as it is now; `None` if it is gone.
    fn read(&self, object: &Value) -> Result<Option<Value>, Diagnostics>;

    /// The object a person names by `id`.
    fn import(&self, id: &str) -> Result<Value, Diagnostics>;
}

/// A type of data source.
pub(super) trait DataSource: Send + Sync {
    /// What it accepts.
    fn schema(&self) -> Block;

    /// What it finds for a wholly known configuration.
    fn read(&self, config: &Value) -> Result<Value, Diagnostics>;
}

/// A change to plan; destroying is not planned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    /// The object as it is; `None` to create it.
    pub(super) prior: Option<&'a Value>,
    /// The configuration.
    pub(super) config: &'a Value,
    /// The configuration with computed attributes of `prior` where it says nothing.
    pub(super) proposed: &'a Value,
}

/// The outcome of planning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The object, unknown where only [`Resource::apply`] will tell.
    pub(super) object: Value,
    /// Changed attributes that need a new object.
    pub(super) requires_replace: Vec<Path>,
}

impl Change<'_> {
    /// Which of the attributes differ between the prior object and `planned`, where null stands for a default; nothing
    /// if there is no prior object.
    pub(super) fn changed(
        &self,
        planned: &Value,
        attributes: &[(&str, Option<Value>)],
    ) -> Vec<Path> {
        let Some(prior) = self.prior else {
            return Vec::new();
        };
        let effective = |object: &Value, name: &str, default: &Option<Value>| {
            let value = super::object::get(object, name);
            match default {
                Some(default) if value.is_null() => default.clone(),
                _ => value,
            }
        };
        attributes
            .iter()
            .filter(|(name, d)| effective(prior, name, d) != effective(planned, name, d))
            .map(|(name, _)| Path::root().attribute(*name))
            .collect()
    }
}
