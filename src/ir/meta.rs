//! Reading what a resource or data source says about itself beside its configuration.

use super::error::At;
use super::json::Json;
use super::leaf;
use super::reader::{Fields, Reader};
use super::{Condition, DerivationOutput, IgnoreChanges, Index, Lifecycle, Meta, Ref};
use crate::value::Path;

const KEYS: [&str; 6] = [
    "dependsOn",
    "index",
    "builds",
    "sensitive",
    "preconditions",
    "postconditions",
];

/// `meta` of a data source.
pub(super) fn of_data_source(r: &mut Reader, at: &At, json: &Json) -> Meta {
    let fields = r.fields(at, json, &[], &KEYS);
    common(r, &fields)
}

/// `meta` of a function call.
pub(super) fn of_call(r: &mut Reader, at: &At, json: &Json) -> Meta {
    let fields = r.fields(at, json, &[], &["dependsOn", "builds"]);
    Meta {
        depends_on: fields.list(r, "dependsOn", Reader::target),
        builds: fields.list(r, "builds", derivation_output),
        ..Meta::default()
    }
}

/// `meta` of a resource.
pub(super) fn of_resource(r: &mut Reader, at: &At, json: &Json) -> Meta {
    let keys = [&KEYS[..], &["lifecycle"]].concat();
    let fields = r.fields(at, json, &[], &keys);
    Meta {
        lifecycle: fields.read(r, "lifecycle", lifecycle),
        ..common(r, &fields)
    }
}

fn common(r: &mut Reader, fields: &Fields) -> Meta {
    Meta {
        depends_on: fields.list(r, "dependsOn", Reader::target),
        lifecycle: Lifecycle::default(),
        index: fields.option(r, "index", index).flatten(),
        builds: fields.list(r, "builds", derivation_output),
        sensitive: fields.list(r, "sensitive", config_path),
        preconditions: fields.list(r, "preconditions", condition),
        postconditions: fields.list(r, "postconditions", condition),
    }
}

fn index(r: &mut Reader, at: &At, json: &Json) -> Option<Index> {
    match json {
        Json::String(key) => return Some(Index::Key((**key).into())),
        Json::Number(n) => {
            if let Some(n) = n.as_i64().and_then(|n| u64::try_from(n).ok()) {
                return Some(Index::Number(n));
            }
        }
        _ => {}
    }
    r.unexpected(at, "string or integer from 0", json);
    None
}

fn derivation_output(r: &mut Reader, at: &At, json: &Json) -> DerivationOutput {
    let fields = r.fields(at, json, &["drv"], &["output"]);
    DerivationOutput {
        drv: fields.read(r, "drv", leaf::derivation),
        output: fields.option(r, "output", Reader::name),
    }
}

/// `{condition, message}`.
fn condition(r: &mut Reader, at: &At, json: &Json) -> Condition {
    let fields = r.fields(at, json, &["condition", "message"], &[]);
    condition_of(r, &fields)
}

/// The same two among other fields.
pub(super) fn condition_of(r: &mut Reader, fields: &Fields) -> Condition {
    Condition {
        condition: fields.read(r, "condition", leaf::value),
        message: fields.read(r, "message", leaf::value),
    }
}

fn lifecycle(r: &mut Reader, at: &At, json: &Json) -> Lifecycle {
    let keys = [
        "preventDestroy",
        "ignoreChanges",
        "createBeforeDestroy",
        "replaceTriggeredBy",
    ];
    let fields = r.fields(at, json, &[], &keys);
    Lifecycle {
        prevent_destroy: fields.read(r, "preventDestroy", Reader::bool),
        ignore_changes: fields.read(r, "ignoreChanges", ignore_changes),
        create_before_destroy: fields.read(r, "createBeforeDestroy", Reader::bool),
        replace_triggered_by: (fields.list(r, "replaceTriggeredBy", trigger).into_iter())
            .flatten()
            .collect(),
    }
}

fn ignore_changes(r: &mut Reader, at: &At, json: &Json) -> IgnoreChanges {
    let is_star = |json: &Json| matches!(json, Json::String(s) if s == "*");
    match json {
        Json::Array(items) if items.iter().any(is_star) => {
            if items.len() > 1 {
                r.unexpected(at, "'*' alone or paths", json);
            }
            IgnoreChanges::All
        }
        Json::Array(items) if items.is_empty() => IgnoreChanges::None,
        _ => IgnoreChanges::Paths(r.list(at, json, config_path)),
    }
}

/// A path into the configuration: written with dots, or exactly, as a list of steps.
fn config_path(r: &mut Reader, at: &At, json: &Json) -> Path {
    match json {
        Json::Array(_) => leaf::path(r, at, json),
        Json::String(s) if !s.is_empty() => leaf::dotted(s),
        _ => {
            r.unexpected(at, "path", json);
            Path::root()
        }
    }
}

/// A reference to an output, or the id of a resource for any change of it.
fn trigger(r: &mut Reader, at: &At, json: &Json) -> Option<Ref> {
    match json {
        Json::Object(_) => leaf::reference_leaf(r, at, json),
        _ => Some(Ref {
            resource: r.target(at, json),
            path: Path::root(),
        }),
    }
}
