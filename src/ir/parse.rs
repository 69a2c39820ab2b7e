//! IR text to [`Ir`].

use std::collections::{BTreeMap, HashSet};

use super::error::{At, IrError, IrErrors};
use super::json::{self, Json};
use super::reader::{Fields, Reader};
use super::{
    Backend, Check, Consumer, DataSource, Deferred, Edge, Expr, Import, Ir, Mode, Moved,
    ProviderDecl, Removed, Resource, VARIABLES, Variable, check, leaf, meta, ty,
};
use crate::addr::Id;

/// The version of the contract that this module reads.
pub const SCHEMA_VERSION: i64 = 1;

/// Reads a whole document, or says all that is wrong with it, element by element (docs/IR-CONTRACT.md, "Validation").
///
/// Errors come in layers: text that is no JSON hides the wrong version, which hides wrong shapes, which hide elements that
/// contradict each other.
pub fn parse(bytes: &[u8]) -> Result<Ir, IrErrors> {
    read(bytes, false)
}

/// Reads what [`write`](super::write) wrote: a document whose sensitive leaves may come with what they were computed to.
pub fn read_back(bytes: &[u8]) -> Result<Ir, IrErrors> {
    read(bytes, true)
}

fn read(bytes: &[u8], secrets: bool) -> Result<Ir, IrErrors> {
    let json = json::parse(bytes).map_err(IrErrors)?;
    let mut reader = Reader::new(declared_ids(&json));
    reader.secrets = secrets;
    let ir = document(&mut reader, &json);
    let mut errors = reader.malformed;
    if errors.is_empty() {
        errors = reader.contradictions;
        errors.extend(check::all(&ir));
    }
    if errors.is_empty() {
        return Ok(ir);
    }
    name_owners(&json, &mut errors);
    errors.sort();
    Err(IrErrors(errors))
}

/// What references may name, well-formed or not.
fn declared_ids(document: &Json) -> HashSet<Id> {
    let members = |list: &'static str| match document.get(list) {
        Some(Json::Array(items)) => &items[..],
        _ => &[],
    };
    let variables = document.get("variables").map(|_| VARIABLES);
    let lists = ["resources", "dataSources", "ephemeral", "calls"];
    (lists.iter().flat_map(|list| members(list)))
        .filter_map(|item| item.get("id")?.as_str())
        .chain(variables)
        .map(Id::from)
        .collect()
}

/// Says for each error which declaration it is in.
pub(super) fn name_owners(document: &Json, errors: &mut [IrError]) {
    for error in errors {
        let mut steps = error.at.split('/');
        let (Some(list), Some(index)) = (steps.next(), steps.next()) else {
            continue;
        };
        let Some(Json::Array(items)) = document.get(list) else {
            continue;
        };
        let item = index.parse().ok().and_then(|i: usize| items.get(i));
        let id = item.and_then(|item| item.get("id")?.as_str());
        error.owner = id.map(str::to_owned);
    }
}

fn document(r: &mut Reader, json: &Json) -> Ir {
    if let Json::Object(_) = &json
        && let Some(version) = json.get("schemaVersion")
        && !matches!(version, Json::Number(n) if n.as_i64() == Some(SCHEMA_VERSION))
    {
        r.unexpected(&At::Root.key("schemaVersion"), "1", version);
        return Ir::default();
    }
    let required = [
        "schemaVersion",
        "providers",
        "resources",
        "edges",
        "nixConsumers",
    ];
    let optional = [
        "dataSources",
        "ephemeral",
        "calls",
        "backend",
        "deferred",
        "checks",
        "imports",
        "moved",
        "removed",
        "variables",
    ];
    let fields = r.fields(&At::Root, json, &required, &optional);
    Ir {
        providers: fields.read(r, "providers", |r, at, json| named(r, at, json, provider)),
        resources: fields.list(r, "resources", resource),
        data_sources: read_lists(r, &fields),
        edges: fields.list(r, "edges", edge),
        consumers: fields.list(r, "nixConsumers", consumer),
        backend: fields.option(r, "backend", backend).flatten(),
        deferred: fields.list(r, "deferred", deferred),
        checks: fields.list(r, "checks", stack_check),
        imports: fields.list(r, "imports", import),
        moved: fields.list(r, "moved", moved),
        removed: fields.list(r, "removed", removed),
        variables: fields.read(r, "variables", |r, at, json| named(r, at, json, variable)),
    }
}

/// An object with names of the author's as keys.
pub(super) fn named<T>(
    r: &mut Reader,
    at: &At,
    json: &Json,
    item: impl Fn(&mut Reader, &At, &Json) -> T,
) -> BTreeMap<String, T> {
    let Json::Object(members) = json else {
        r.unexpected(at, "object", json);
        return BTreeMap::new();
    };
    (members.iter())
        .map(|(name, json)| (name.to_string(), item(r, &at.key(name), json)))
        .collect()
}

pub(super) fn provider(r: &mut Reader, at: &At, json: &Json) -> ProviderDecl {
    let fields = r.fields(at, json, &["source"], &["version", "config", "meta"]);
    ProviderDecl {
        source: fields.read(r, "source", source),
        version: fields.option(r, "version", Reader::name),
        config: fields
            .option(r, "config", leaf::attributes)
            .unwrap_or_else(|| Expr::Object(BTreeMap::new())),
        meta: fields.option(r, "meta", static_object).flatten(),
    }
}

/// An object without leaf markers.
fn static_object(r: &mut Reader, at: &At, json: &Json) -> Option<Expr> {
    let Json::Object(_) = json else {
        r.unexpected(at, "object", json);
        return None;
    };
    Some(leaf::plain(r, at, json))
}

fn source(r: &mut Reader, at: &At, json: &Json) -> Expr {
    match json {
        Json::Object(_) => (r.fields(at, json, &["__build"], &[]))
            .option(r, "__build", leaf::build)
            .map_or(Expr::Null, Expr::Build),
        _ => Expr::String(r.name(at, json).into()),
    }
}

const DECLARATION: [&str; 5] = ["id", "provider", "type", "name", "config"];

pub(super) fn resource(r: &mut Reader, at: &At, json: &Json) -> Resource {
    let fields = r.fields(at, json, &DECLARATION, &["meta"]);
    Resource {
        id: fields.id(r, "id"),
        provider: fields.read(r, "provider", Reader::name),
        ty: fields.read(r, "type", Reader::name),
        name: fields.read(r, "name", Reader::name),
        config: fields.read(r, "config", leaf::attributes),
        meta: fields.read(r, "meta", meta::of_resource),
    }
}

/// The lists of all that is read.
pub(super) fn read_lists(r: &mut Reader, fields: &Fields) -> Vec<DataSource> {
    let of = |mode| move |r: &mut Reader, at: &At, json: &Json| data_source(r, at, json, mode);
    [
        fields.list(r, "dataSources", of(Mode::Data)),
        fields.list(r, "ephemeral", of(Mode::Ephemeral)),
        fields.list(r, "calls", call),
    ]
    .concat()
}

fn data_source(r: &mut Reader, at: &At, json: &Json, mode: Mode) -> DataSource {
    let fields = r.fields(at, json, &DECLARATION, &["meta"]);
    DataSource {
        mode,
        id: fields.id(r, "id"),
        provider: fields.read(r, "provider", Reader::name),
        ty: fields.read(r, "type", Reader::name),
        name: fields.read(r, "name", Reader::name),
        config: fields.read(r, "config", leaf::attributes),
        meta: fields.read(r, "meta", meta::of_data_source),
    }
}

fn call(r: &mut Reader, at: &At, json: &Json) -> DataSource {
    let required = ["id", "provider", "function", "name", "arguments"];
    let fields = r.fields(at, json, &required, &["meta"]);
    DataSource {
        mode: Mode::Call,
        id: fields.id(r, "id"),
        provider: fields.read(r, "provider", Reader::name),
        ty: fields.read(r, "function", Reader::name),
        name: fields.read(r, "name", Reader::name),
        config: Expr::List(fields.list(r, "arguments", leaf::value)),
        meta: fields.read(r, "meta", meta::of_call),
    }
}

pub(super) fn edge(r: &mut Reader, at: &At, json: &Json) -> Edge {
    let fields = r.fields(at, json, &["from", "to", "via"], &[]);
    Edge {
        from: fields
            .option(r, "from", Reader::target)
            .unwrap_or_else(|| Id::from("")),
        to: fields.id(r, "to"),
        via: fields.read(r, "via", Reader::string),
    }
}

pub(super) fn consumer(r: &mut Reader, at: &At, json: &Json) -> Consumer {
    let fields = r.fields(at, json, &["id", "value"], &["sensitive", "description"]);
    Consumer {
        id: fields.read(r, "id", Reader::name),
        value: fields.read(r, "value", leaf::value),
        sensitive: fields.read(r, "sensitive", Reader::bool),
        description: fields.option(r, "description", Reader::string),
    }
}

fn backend(r: &mut Reader, at: &At, json: &Json) -> Option<Backend> {
    let settings = static_object(r, at, json)?;
    let Some(ty) = json.get("type") else {
        r.malformed(at, "'type' is a required property");
        return None;
    };
    let ty = r.name(&at.key("type"), ty);
    let Expr::Object(mut settings) = settings else {
        return None;
    };
    settings.remove("type");
    Some(Backend { ty, settings })
}

fn deferred(r: &mut Reader, at: &At, json: &Json) -> Deferred {
    let fields = r.fields(at, json, &["id", "inputs"], &["refs", "declares"]);
    Deferred {
        id: fields.read(r, "id", Reader::name),
        inputs: leaf::inputs(r, at, &fields).1,
        declares: fields.list_option(r, "declares", Reader::target),
    }
}

fn stack_check(r: &mut Reader, at: &At, json: &Json) -> Check {
    let fields = r.fields(at, json, &["name", "condition", "message"], &[]);
    Check {
        name: fields.read(r, "name", Reader::name),
        condition: meta::condition_of(r, &fields),
    }
}

fn import(r: &mut Reader, at: &At, json: &Json) -> Import {
    let fields = r.fields(at, json, &["to", "id"], &[]);
    Import {
        to: fields.id(r, "to"),
        id: fields.read(r, "id", leaf::value),
    }
}

fn moved(r: &mut Reader, at: &At, json: &Json) -> Moved {
    let fields = r.fields(at, json, &["from", "to"], &[]);
    Moved {
        from: fields.id(r, "from"),
        to: fields.id(r, "to"),
    }
}

fn removed(r: &mut Reader, at: &At, json: &Json) -> Removed {
    let fields = r.fields(at, json, &["from"], &["destroy"]);
    Removed {
        from: fields.id(r, "from"),
        destroy: fields.read(r, "destroy", Reader::bool),
    }
}

fn variable(r: &mut Reader, at: &At, json: &Json) -> Variable {
    let optional = [
        "type",
        "description",
        "sensitive",
        "nullable",
        "default",
        "value",
    ];
    let fields = r.fields(at, json, &[], &optional);
    Variable {
        ty: fields.option(r, "type", ty::read),
        description: fields.option(r, "description", Reader::string),
        sensitive: fields.read(r, "sensitive", Reader::bool),
        not_nullable: fields.option(r, "nullable", Reader::bool) == Some(false),
        default: fields.option(r, "default", leaf::plain),
        value: fields.option(r, "value", leaf::plain),
        secret: None,
    }
}
