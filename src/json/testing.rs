//! Documents for the tests of the views, in the notations of `schema::testing`.

use super::{
    Change, Mode, Named, ObjectChange, ObjectValues, ResourceChange, ResourceName, ResourceValues,
};
use crate::addr::Id;
use crate::plan::Action;
use crate::schema::testing::{object, path, schema, ty, value};
use crate::value::{PathSet, Type};

/// A change of the resource `a.test_thing.x`.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) schema: &'a str,
    /// `create`, `update`, `delete`, `replace`, `read`, `forget` or `no-op`.
    pub(crate) action: &'a str,
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
    pub(crate) replace: &'a [&'a str],
    /// Sensitive before and after, beyond the schema.
    pub(crate) sensitive: [&'a [&'a str]; 2],
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            schema: "",
            action: "update",
            before: "null",
            after: "null",
            replace: &[],
            sensitive: [&[], &[]],
        }
    }
}

impl Case<'_> {
    /// The change, of a resource with this name.
    pub(crate) fn named(self, resource: &str) -> ResourceChange {
        let block = schema(self.schema);
        let action = match self.action {
            "create" => Action::Create,
            "update" => Action::Update,
            "delete" => Action::Delete,
            "replace" => Action::DeleteThenCreate,
            "read" => Action::Read,
            "forget" => Action::Forget,
            _ => Action::NoOp,
        };
        let paths = |all: &[&str]| all.iter().map(|p| path(p)).collect::<PathSet>();
        let change = Change::of_object(ObjectChange {
            action,
            block: &block,
            before: Some(&object(&block, self.before)),
            after: Some(&object(&block, self.after)),
            before_sensitive: &paths(self.sensitive[0]),
            after_sensitive: &paths(self.sensitive[1]),
            replace_paths: &self.replace.iter().map(|p| path(p)).collect::<Vec<_>>(),
        });
        let mode = if self.action == "read" {
            Mode::Data
        } else {
            Mode::Managed
        };
        ResourceChange::new(name(mode, resource), change)
    }
}

/// An object of the resource `a.test_thing.<name>`.
pub(crate) fn stored(resource: &str, text: &str, json: &str) -> ResourceValues {
    let block = schema(text);
    let value = object(&block, json);
    let sensitive = PathSet::default();
    let object = ObjectValues {
        block: &block,
        schema_version: 0,
        value: &value,
        sensitive: &sensitive,
    };
    ResourceValues::new(name(Mode::Managed, resource), object)
}

/// The change of an output; `-` is an output that is not there, `??` one that is not known.
pub(crate) fn output(before: &str, after: &str, sensitive: bool) -> Change {
    let read = |text: &str| match text {
        "-" => None,
        "??" => Some(crate::value::Value::unknown(Type::String)),
        json => Some(value(&ty("any"), json)),
    };
    Change::of_output(read(before).as_ref(), read(after).as_ref(), sensitive)
}

fn name(mode: Mode, name: &str) -> ResourceName {
    let prefix = if mode == Mode::Data { "data." } else { "" };
    let id = Id::from(format!("{prefix}a.test_thing.{name}"));
    ResourceName::new(Named {
        mode,
        id: &id,
        ty: "test_thing",
        name,
        index: None,
        provider: "a",
    })
}
