//! Reading configuration trees and the leaf markers in them.

use std::collections::BTreeMap;

use super::error::At;
use super::json::{Json, Members};
use super::reader::{Fields, Reader};
use super::{Build, Derived, Expr, Hidden, Ref};
use crate::addr::Id;
use crate::value::{Path, Step, Str};

type ReadMarker = fn(&mut Reader, &At, &Json) -> Expr;

/// Keys that make an object a leaf, and `__object`, which keeps one from being a leaf.
const MARKERS: [(&str, ReadMarker); 5] = [
    ("__ref", |r, at, json| Expr::Ref(reference(r, at, json))),
    ("__derived", |r, at, json| {
        Expr::Derived(derived(r, at, json))
    }),
    ("__sensitiveRef", |r, at, json| {
        Expr::SensitiveRef(reference(r, at, json))
    }),
    ("__build", |r, at, json| Expr::Build(build(r, at, json))),
    ("__object", |r, at, json| Expr::Object(object(r, at, json))),
];

/// The marker among the members of an object.
fn leaf_in<'a>(members: &'a Members) -> Option<(&'static str, ReadMarker, &'a Json<'a>)> {
    if !members.keys().any(|key| key.starts_with("__")) {
        return None;
    }
    let mut markers = MARKERS.iter();
    markers.find_map(|(name, read)| Some((*name, *read, members.get(name)?)))
}

/// Whether an object with this key is a leaf, or would be taken for one.
pub(super) fn is_marker(key: &str) -> bool {
    MARKERS.iter().any(|(name, _)| *name == key)
}

/// The marker key among the members of an object.
pub(super) fn marker_in(members: &Members) -> Option<&'static str> {
    leaf_in(members).map(|(name, ..)| name)
}

/// A tree of plain data and leaf markers.
pub(super) fn value(r: &mut Reader, at: &At, json: &Json) -> Expr {
    match json {
        Json::Array(_) => Expr::List(r.list(at, json, value)),
        Json::Object(members) => {
            let Some((name, read, body)) = leaf_in(members) else {
                return Expr::Object(entries(r, at, members, value));
            };
            if let Some(other) = members.keys().find(|key| *key != name) {
                let advice = "wrap the object in '__object' if both are data";
                r.malformed(at, format!("'{name}' beside '{other}'; {advice}"));
                return Expr::Null;
            }
            read(r, &at.key(name), body)
        }
        scalar => plain(r, at, scalar),
    }
}

/// A tree without leaf markers.
pub(super) fn plain(r: &mut Reader, at: &At, json: &Json) -> Expr {
    match json {
        Json::Null | Json::Refused(_) | Json::Digits(_) => Expr::Null,
        Json::Bool(b) => Expr::Bool(*b),
        Json::Number(n) => Expr::Number(n.clone()),
        Json::String(s) => Expr::String(Str::from(&**s)),
        Json::Array(_) => Expr::List(r.list(at, json, plain)),
        Json::Object(members) if marker_in(members).is_some() => {
            r.unexpected(at, "plain value", json);
            Expr::Null
        }
        Json::Object(members) => Expr::Object(entries(r, at, members, plain)),
    }
}

fn entries(
    r: &mut Reader,
    at: &At,
    members: &Members,
    read: fn(&mut Reader, &At, &Json) -> Expr,
) -> BTreeMap<Str, Expr> {
    (members.iter())
        .map(|(key, json)| (r.attribute(key), read(r, &at.key(key), json)))
        .collect()
}

/// The attributes of a provider, resource or data source: an object, not a marker in its place.
pub(super) fn attributes(r: &mut Reader, at: &At, json: &Json) -> Expr {
    match json {
        Json::Object(members) if members.contains("__object") || marker_in(members).is_none() => {
            value(r, at, json)
        }
        _ => {
            r.unexpected(at, "object of attributes", json);
            Expr::Null
        }
    }
}

fn object(r: &mut Reader, at: &At, json: &Json) -> BTreeMap<Str, Expr> {
    if let Json::Object(members) = json {
        return entries(r, at, members, value);
    }
    r.unexpected(at, "object", json);
    BTreeMap::new()
}

/// `{resource, path}`.
fn reference(r: &mut Reader, at: &At, json: &Json) -> Ref {
    let fields = r.fields(at, json, &["resource", "path"], &[]);
    Ref {
        resource: (fields.option(r, "resource", Reader::target)).unwrap_or_else(|| Id::from("")),
        path: fields.read(r, "path", path),
    }
}

/// `{"__ref": …}` where nothing else may stand.
pub(super) fn reference_leaf(r: &mut Reader, at: &At, json: &Json) -> Option<Ref> {
    r.fields(at, json, &["__ref"], &[])
        .option(r, "__ref", reference)
}

/// A list of steps, at least one.
pub(super) fn path(r: &mut Reader, at: &At, json: &Json) -> Path {
    Path(r.items(at, json, step))
}

fn step(r: &mut Reader, at: &At, json: &Json) -> Step {
    match json {
        Json::String(s) => return Step::Attribute(r.attribute(s)),
        Json::Number(n) => {
            if let Some(index) = n.as_i64().and_then(|n| u64::try_from(n).ok()) {
                return Step::Index(index);
            }
        }
        _ => {}
    }
    r.unexpected(at, "string or integer from 0", json);
    Step::Index(0)
}

fn derived(r: &mut Reader, at: &At, json: &Json) -> Derived {
    let optional: &[&str] = if r.secrets {
        &["refs", "template", "sensitive", "value"]
    } else {
        &["refs", "template", "sensitive"]
    };
    let fields = r.fields(at, json, &["inputs"], optional);
    let (names, inputs) = inputs(r, at, &fields);
    let template = fields.list_option(r, "template", template_part);
    if let Some(parts) = &template {
        check_template(r, at, &names, parts);
    }
    Derived {
        inputs,
        template,
        sensitive: fields.read(r, "sensitive", Reader::bool),
        value: (fields.option(r, "value", value)).map(|value| Box::new(Hidden(value))),
    }
}

/// `inputs` as they are written, and what they mean: `refs` says it exactly where it is given.
pub(super) fn inputs(r: &mut Reader, at: &At, fields: &Fields) -> (Vec<String>, Vec<Ref>) {
    let names = fields.read(r, "inputs", |r, at, json| r.items(at, json, Reader::name));
    let Some(refs) = fields.list_option(r, "refs", reference) else {
        let at = at.key("inputs");
        let refs = (names.iter().enumerate())
            .filter_map(|(i, name)| input(r, &at.index(i), name))
            .collect();
        return (names, refs);
    };
    let at = at.key("refs");
    if refs.len() == names.len() {
        for (i, (reference, name)) in refs.iter().zip(&names).enumerate() {
            if reference.to_string() != *name {
                r.contradiction(&at.index(i), format!("not the same as input '{name}'"));
            }
        }
    } else {
        let (refs, names) = (refs.len(), names.len());
        r.contradiction(&at, format!("{refs} refs for {names} inputs"));
    }
    (names, refs)
}

/// An input without its exact form: the longest declared id that it starts with, then steps between dots, of which those
/// of digits only are indices.
fn input(r: &mut Reader, at: &At, name: &str) -> Option<Ref> {
    let mut dots = name.rmatch_indices('.').map(|(dot, _)| dot);
    let found = dots.find_map(|dot| Some((r.known(&name[..dot])?, &name[dot + 1..])));
    if let Some((resource, path)) = found {
        let path = dotted(path);
        return Some(Ref { resource, path });
    }
    let message = format!("'{name}' is no path into a declared resource or data source");
    r.contradiction(at, message);
    None
}

/// A path written with dots.
pub(super) fn dotted(text: &str) -> Path {
    let step = |step: &str| match step.parse() {
        Ok(index) if step.bytes().all(|b| b.is_ascii_digit()) => Step::Index(index),
        _ => Step::Attribute(step.into()),
    };
    Path(text.split('.').map(step).collect())
}

fn template_part(r: &mut Reader, at: &At, json: &Json) -> Expr {
    match json {
        Json::String(s) => Expr::String(Str::from(&**s)),
        Json::Object(_) => reference_leaf(r, at, json).map_or(Expr::Null, Expr::Ref),
        _ => {
            r.unexpected(at, "string or '__ref' marker", json);
            Expr::Null
        }
    }
}

/// The references in a template are its inputs, no more and no less.
fn check_template(r: &mut Reader, at: &At, inputs: &[String], parts: &[Expr]) {
    let at_parts = at.key("template");
    let mut used = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let Expr::Ref(reference) = part else { continue };
        let name = reference.to_string();
        if !inputs.contains(&name) {
            r.contradiction(&at_parts.index(i), format!("'{name}' is not an input"));
        }
        used.push(name);
    }
    let at_inputs = at.key("inputs");
    for (i, input) in inputs.iter().enumerate() {
        if !used.contains(input) {
            let message = format!("'{input}' is not in the template");
            r.contradiction(&at_inputs.index(i), message);
        }
    }
}

/// `{path, drv, output}`.
pub(super) fn build(r: &mut Reader, at: &At, json: &Json) -> Build {
    let fields = r.fields(at, json, &["path"], &["drv", "output"]);
    Build {
        path: fields.read(r, "path", absolute_path),
        drv: fields.option(r, "drv", derivation),
        output: fields.option(r, "output", Reader::name),
    }
}

fn absolute_path(r: &mut Reader, at: &At, json: &Json) -> String {
    r.string_that(at, json, "absolute path", |s| s.starts_with('/'))
}

pub(super) fn derivation(r: &mut Reader, at: &At, json: &Json) -> String {
    let is_derivation = |s: &str| {
        let suffix = s.strip_prefix('/').and_then(|s| s.rsplit_once('.'));
        suffix.is_some_and(|(_, suffix)| suffix == "drv")
    };
    r.string_that(at, json, "absolute path of a .drv file", is_derivation)
}
