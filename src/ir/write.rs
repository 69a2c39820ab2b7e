//! [`Ir`] to the document that reads back as it: what a saved plan keeps of its evaluation.

use serde_json::{Map, Value as Json, json};

use super::parse::SCHEMA_VERSION;
use super::{
    Build, Check, Condition, DataSource, Deferred, DerivationOutput, Derived, Expr, IgnoreChanges,
    Import, Index, Ir, Lifecycle, Meta, Mode, Moved, ProviderDecl, Ref, Removed, Resource,
    Variable, leaf,
};
use crate::addr::Id;
use crate::value::{Path, Step};

/// The document (docs/IR-CONTRACT.md). Sensitive leaves that have been computed come with their values, which
/// [`read_back`](super::read_back) takes, so that it is a secret like the state. Values of sensitive variables are not in
/// it.
pub fn write(ir: &Ir) -> Json {
    let Ir {
        providers,
        resources,
        data_sources,
        edges,
        consumers,
        backend,
        deferred,
        checks,
        imports,
        moved,
        removed,
        variables,
    } = ir;
    let mut document = json!({
        "schemaVersion": SCHEMA_VERSION,
        "providers": providers.iter().map(|(id, p)| (id.clone(), provider(p))).collect::<Map<_, _>>(),
        "resources": resources.iter().map(resource).collect::<Json>(),
        "edges": edges.iter().map(|e| json!({
            "from": e.from.as_str(), "to": e.to.as_str(), "via": e.via,
        })).collect::<Json>(),
        "nixConsumers": consumers.iter().map(|c| compact(json!({
            "id": c.id, "value": expr(&c.value), "sensitive": flag(c.sensitive), "description": c.description,
        }), &["value"])).collect::<Json>(),
    });
    for mode in [Mode::Data, Mode::Ephemeral, Mode::Call] {
        let all = data_sources.iter().filter(|d| d.mode == mode);
        put(&mut document, mode.list(), all.map(data_source).collect());
    }
    let lists = lists(deferred, checks, imports, (moved, removed));
    for (name, items) in lists {
        put(&mut document, name, items);
    }
    if let Some(backend) = backend {
        let settings = backend.settings.iter();
        let mut json: Map<String, Json> = settings.map(|(k, v)| (k.to_string(), expr(v))).collect();
        json.insert("type".to_owned(), json!(backend.ty));
        document["backend"] = Json::Object(json);
    }
    if !variables.is_empty() {
        let all = variables
            .iter()
            .map(|(name, v)| (name.clone(), variable(v)));
        document["variables"] = Json::Object(all.collect());
    }
    document
}

/// The lists that may be missing.
fn lists(
    deferred: &[Deferred],
    checks: &[Check],
    imports: &[Import],
    (moved, removed): (&[Moved], &[Removed]),
) -> [(&'static str, Vec<Json>); 5] {
    [
        (
            "deferred",
            list(deferred, |d| {
                let mut json = inputs(&d.inputs);
                json.insert("id".to_owned(), json!(d.id));
                if let Some(ids) = &d.declares {
                    let ids: Vec<_> = ids.iter().map(Id::as_str).collect();
                    json.insert("declares".to_owned(), json!(ids));
                }
                Json::Object(json)
            }),
        ),
        (
            "checks",
            list(checks, |c| {
                let mut json = condition(&c.condition);
                json["name"] = json!(c.name);
                json
            }),
        ),
        (
            "imports",
            list(
                imports,
                |i| json!({ "to": i.to.as_str(), "id": expr(&i.id) }),
            ),
        ),
        (
            "moved",
            list(
                moved,
                |m| json!({ "from": m.from.as_str(), "to": m.to.as_str() }),
            ),
        ),
        (
            "removed",
            list(
                removed,
                |r| json!({ "from": r.from.as_str(), "destroy": r.destroy }),
            ),
        ),
    ]
}

fn put(document: &mut Json, name: &str, items: Vec<Json>) {
    if !items.is_empty() {
        document[name] = Json::Array(items);
    }
}

fn list<T>(items: &[T], item: impl Fn(&T) -> Json) -> Vec<Json> {
    items.iter().map(item).collect()
}

/// `true`, or nothing.
fn flag(set: bool) -> Json {
    if set { Json::Bool(true) } else { Json::Null }
}

/// Without the members that are null, but for those that may be.
fn compact(mut json: Json, nullable: &[&str]) -> Json {
    if let Json::Object(members) = &mut json {
        members.retain(|name, value| !value.is_null() || nullable.contains(&name.as_str()));
    }
    json
}

fn provider(provider: &ProviderDecl) -> Json {
    let ProviderDecl {
        source,
        version,
        config,
        meta,
    } = provider;
    compact(
        json!({
            "source": expr(source), "version": version, "config": expr(config), "meta": meta.as_ref().map(expr),
        }),
        &[],
    )
}

fn resource(resource: &Resource) -> Json {
    let Resource {
        id,
        provider,
        ty,
        name,
        config,
        meta: of,
    } = resource;
    json!({
        "id": id.as_str(), "provider": provider, "type": ty, "name": name, "config": expr(config), "meta": meta(of),
    })
}

fn data_source(source: &DataSource) -> Json {
    let DataSource {
        mode,
        id,
        provider,
        ty,
        name,
        config,
        meta: of,
    } = source;
    let (ty_name, config_name) = match mode {
        Mode::Data | Mode::Ephemeral => ("type", "config"),
        Mode::Call => ("function", "arguments"),
    };
    json!({
        "id": id.as_str(), "provider": provider, ty_name: ty, "name": name, config_name: expr(config), "meta": meta(of),
    })
}

fn meta(meta: &Meta) -> Json {
    let Meta {
        depends_on,
        lifecycle: rules,
        index,
        builds,
        sensitive,
        preconditions,
        postconditions,
    } = meta;
    let mut json = Json::Object(Map::new());
    put(
        &mut json,
        "dependsOn",
        list(depends_on, |id| json!(id.as_str())),
    );
    if *rules != Lifecycle::default() {
        json["lifecycle"] = lifecycle(rules);
    }
    match index {
        None => {}
        Some(Index::Number(n)) => json["index"] = json!(n),
        Some(Index::Key(key)) => json["index"] = json!(&**key),
    }
    put(&mut json, "builds", list(builds, derivation_output));
    put(&mut json, "sensitive", list(sensitive, path));
    put(&mut json, "preconditions", list(preconditions, condition));
    put(&mut json, "postconditions", list(postconditions, condition));
    json
}

fn lifecycle(lifecycle: &Lifecycle) -> Json {
    let Lifecycle {
        prevent_destroy,
        ignore_changes,
        create_before_destroy,
        replace_triggered_by,
    } = lifecycle;
    let trigger = |r: &Ref| {
        if r.path.is_root() {
            json!(r.resource.as_str())
        } else {
            json!({ "__ref": reference(r) })
        }
    };
    let ignored = match ignore_changes {
        IgnoreChanges::None => Vec::new(),
        IgnoreChanges::Paths(paths) => list(paths, path),
        IgnoreChanges::All => vec![json!("*")],
    };
    json!({
        "preventDestroy": prevent_destroy,
        "ignoreChanges": ignored,
        "createBeforeDestroy": create_before_destroy,
        "replaceTriggeredBy": list(replace_triggered_by, trigger),
    })
}

fn derivation_output(build: &DerivationOutput) -> Json {
    compact(json!({ "drv": build.drv, "output": build.output }), &[])
}

fn condition(condition: &Condition) -> Json {
    json!({ "condition": expr(&condition.condition), "message": expr(&condition.message) })
}

fn variable(variable: &Variable) -> Json {
    let Variable {
        ty,
        description,
        sensitive,
        not_nullable,
        default,
        value,
        // Comes back with the values of variables.
        secret: _,
    } = variable;
    let ty = ty
        .as_ref()
        .map(|ty| serde_json::from_str::<Json>(&ty.to_json()).unwrap_or(Json::Null));
    let mut json = compact(
        json!({ "type": ty, "description": description, "sensitive": flag(*sensitive) }),
        &[],
    );
    if *not_nullable {
        json["nullable"] = json!(false);
    }
    for (name, expression) in [("default", default), ("value", value)] {
        if let Some(expression) = expression {
            json[name] = expr(expression);
        }
    }
    json
}

fn expr(value: &Expr) -> Json {
    match value {
        Expr::Null => Json::Null,
        Expr::Bool(b) => Json::Bool(*b),
        Expr::Number(n) => n.to_json_number().map_or(Json::Null, Json::Number),
        Expr::String(s) => Json::String(s.to_string()),
        Expr::List(items) => items.iter().map(expr).collect(),
        Expr::Object(members) => {
            let json = members.iter().map(|(k, v)| (k.to_string(), expr(v)));
            let json = Json::Object(json.collect());
            if members.keys().any(|key| leaf::is_marker(key)) {
                json!({ "__object": json })
            } else {
                json
            }
        }
        Expr::Ref(target) => json!({ "__ref": reference(target) }),
        Expr::SensitiveRef(target) => json!({ "__sensitiveRef": reference(target) }),
        Expr::Derived(leaf) => json!({ "__derived": derived(leaf) }),
        Expr::Build(Build { path, drv, output }) => {
            json!({ "__build": compact(json!({ "path": path, "drv": drv, "output": output }), &[]) })
        }
    }
}

fn derived(leaf: &Derived) -> Json {
    let Derived {
        inputs: from,
        template,
        sensitive,
        value,
    } = leaf;
    let mut json = inputs(from);
    if let Some(parts) = template {
        json.insert("template".to_owned(), parts.iter().map(expr).collect());
    }
    if *sensitive {
        json.insert("sensitive".to_owned(), Json::Bool(true));
    }
    if let Some(value) = value {
        json.insert("value".to_owned(), expr(&value.0));
    }
    Json::Object(json)
}

/// Inputs in both notations.
fn inputs(from: &[Ref]) -> Map<String, Json> {
    let names = from.iter().map(|r| Json::String(r.to_string()));
    let mut json = Map::new();
    json.insert("inputs".to_owned(), names.collect());
    json.insert("refs".to_owned(), from.iter().map(reference).collect());
    json
}

fn reference(r: &Ref) -> Json {
    json!({ "resource": r.resource.as_str(), "path": path(&r.path) })
}

fn path(path: &Path) -> Json {
    let step = |step: &Step| match step {
        Step::Attribute(name) | Step::Key(name) => json!(&**name),
        Step::Index(i) => json!(i),
    };
    path.0.iter().map(step).collect()
}
