//! The configuration with references in place of values: "configuration representation".
//!
//! Of the instances that a resource was expanded into, the first stands for all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::plan::VariableDoc;
use super::resource::{Mode, Named, ResourceName};
use crate::addr::Id;
use crate::ir::{Expr, Index, Ir, Meta, Ref};
use crate::schema::{Block, Nesting};
use crate::value::{Path, Step};

/// A configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// Providers by id.
    pub provider_config: BTreeMap<String, ProviderConfig>,
    /// Everything else.
    pub root_module: ModuleConfig,
}

/// A provider's configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProviderConfig {
    /// The provider's id.
    pub name: String,
    /// Its source address.
    pub full_name: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub expressions: Map<String, Json>,
}

/// Outputs, resources, variables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleConfig {
    /// Stack outputs by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, OutputConfig>,
    /// Resources and data sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceConfig>,
    /// Variables by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, VariableDoc>,
}

/// A stack output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputConfig {
    /// Whether it is not to be shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    /// What it is.
    pub expression: Json,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A resource or data source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceConfig {
    /// Address without instance key.
    pub address: String,
    /// Managed or data.
    pub mode: Mode,
    /// The type.
    #[serde(rename = "type")]
    pub ty: String,
    /// The name without instance key.
    pub name: String,
    /// Key into the provider configurations.
    pub provider_config_key: String,
    /// The arguments.
    pub expressions: Map<String, Json>,
    /// Version of the schema that the arguments follow.
    pub schema_version: i64,
    /// Explicit dependencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// The schema of a resource: version and block.
pub type Lookup<'a> = dyn Fn(&str, Mode, &str) -> Option<(i64, &'a Block)> + 'a;

/// Input of [`Configuration::new`].
#[derive(Clone, Copy)]
pub struct ConfigurationInput<'a> {
    /// The stack.
    pub ir: &'a Ir,
    /// The schema by provider id, mode and type, where it is known; without one, nested blocks look like attributes.
    pub schema: &'a Lookup<'a>,
    /// Source addresses of providers by id.
    pub sources: &'a BTreeMap<String, String>,
}

impl Configuration {
    /// The configuration of a stack.
    pub fn new(input: ConfigurationInput<'_>) -> Self {
        let ConfigurationInput { ir, sources, .. } = input;
        let names = Names::of(ir);
        let provider_config = ir.providers.iter().map(|(id, provider)| {
            let full_name = sources.get(id).cloned().unwrap_or_else(|| id.clone());
            let expressions = names.block(None, &provider.config);
            (
                id.clone(),
                ProviderConfig {
                    name: id.clone(),
                    full_name,
                    expressions,
                },
            )
        });
        let outputs = ir.consumers.iter().filter_map(|consumer| {
            let output = OutputConfig {
                sensitive: consumer.sensitive,
                expression: names.expression(&consumer.value),
                description: consumer.description.clone(),
            };
            Some((consumer.id.strip_prefix("output.")?.to_owned(), output))
        });
        let variables = ir
            .variables
            .iter()
            .map(|(name, v)| (name.clone(), VariableDoc::from(v)));
        Self {
            provider_config: provider_config.collect(),
            root_module: ModuleConfig {
                outputs: outputs.collect(),
                resources: resources(input, &names),
                variables: variables.collect(),
            },
        }
    }
}

fn resources(input: ConfigurationInput<'_>, names: &Names) -> Vec<ResourceConfig> {
    let managed = input.ir.resources.iter().map(|r| Declared {
        mode: Mode::Managed,
        id: &r.id,
        provider: &r.provider,
        ty: &r.ty,
        name: &r.name,
        config: &r.config,
        meta: &r.meta,
    });
    let data = input.ir.data_sources.iter();
    let data = data.filter(|d| d.mode == crate::ir::Mode::Data);
    let data = data.map(|d| Declared {
        mode: Mode::Data,
        id: &d.id,
        provider: &d.provider,
        ty: &d.ty,
        name: &d.name,
        config: &d.config,
        meta: &d.meta,
    });
    let mut seen = BTreeSet::new();
    let all = managed
        .chain(data)
        .map(|declared| declared.config(input, names));
    all.filter(|config| seen.insert(config.address.clone()))
        .collect()
}

/// What resources and data sources have in common.
struct Declared<'a> {
    mode: Mode,
    id: &'a Id,
    provider: &'a str,
    ty: &'a str,
    name: &'a str,
    config: &'a Expr,
    meta: &'a Meta,
}

impl Declared<'_> {
    fn config(&self, input: ConfigurationInput<'_>, names: &Names) -> ResourceConfig {
        let Self {
            mode,
            id,
            provider,
            ty,
            name,
            config,
            meta,
        } = *self;
        let index = meta.index.as_ref();
        let full = ResourceName::new(Named {
            mode,
            id,
            ty,
            name,
            index,
            provider,
        });
        let prefix = if mode == Mode::Data { "data." } else { "" };
        let (schema_version, block) = (input.schema)(provider, mode, ty).unzip();
        ResourceConfig {
            address: format!("{prefix}{ty}.{}", full.name),
            mode,
            ty: ty.to_owned(),
            name: full.name,
            provider_config_key: provider.to_owned(),
            expressions: names.block(block, config),
            schema_version: schema_version.unwrap_or(0),
            depends_on: meta.depends_on.iter().map(|id| names.address(id)).collect(),
        }
    }
}

/// Addresses by id.
struct Names(BTreeMap<Id, String>);

impl Names {
    fn of(ir: &Ir) -> Self {
        let address = |mode, id: &Id, ty: &str, name: &str, index: Option<&Index>| {
            let named = Named {
                mode,
                id,
                ty,
                name,
                index,
                provider: "",
            };
            (id.clone(), ResourceName::new(named).address)
        };
        let managed = ir.resources.iter();
        let managed =
            managed.map(|r| address(Mode::Managed, &r.id, &r.ty, &r.name, r.meta.index.as_ref()));
        let data = ir.data_sources.iter();
        let data = data.filter(|d| d.mode == crate::ir::Mode::Data);
        let data = data.map(|d| address(Mode::Data, &d.id, &d.ty, &d.name, d.meta.index.as_ref()));
        Self(managed.chain(data).collect())
    }

    fn address(&self, id: &Id) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// "Block expressions representation".
    fn block(&self, block: Option<&Block>, config: &Expr) -> Map<String, Json> {
        let Expr::Object(members) = config else {
            return Map::new();
        };
        let expression = |(name, value): (&crate::value::Str, &Expr)| {
            let nested = block.and_then(|b| b.block_types.get(name));
            let json = match (nested, value) {
                (Some(nested), Expr::List(items)) => items
                    .iter()
                    .map(|v| Json::Object(self.block(Some(&nested.block), v)))
                    .collect(),
                (Some(nested), Expr::Object(blocks)) if nested.nesting == Nesting::Map => {
                    let blocks = blocks.iter();
                    let block = |v| Json::Object(self.block(Some(&nested.block), v));
                    Json::Object(blocks.map(|(k, v)| (k.to_string(), block(v))).collect())
                }
                (Some(nested), Expr::Object(_)) => {
                    Json::Object(self.block(Some(&nested.block), value))
                }
                _ => self.expression(value),
            };
            (name.to_string(), json)
        };
        members
            .iter()
            .filter(|(_, v)| **v != Expr::Null)
            .map(expression)
            .collect()
    }

    /// "Expression representation".
    fn expression(&self, expr: &Expr) -> Json {
        let references: Vec<String> = expr.inputs().flat_map(|r| self.references(r)).collect();
        match (expr.to_json(), references.is_empty()) {
            (Some(constant), _) => json!({ "constant_value": constant }),
            (None, false) => json!({ "references": references }),
            // Builds: neither a reference nor known before they are built.
            (None, true) => json!({}),
        }
    }

    /// The reference and everything that contains it, up to the resource.
    fn references(&self, r: &Ref) -> Vec<String> {
        let address = self.address(&r.resource);
        let whole = r.path.0.len();
        (0..=whole)
            .rev()
            .map(|n| format!("{address}{}", suffix(&r.path.0[..n])))
            .collect()
    }
}

fn suffix(steps: &[Step]) -> String {
    let path = Path(steps.to_vec()).to_string();
    if path.is_empty() || path.starts_with('[') {
        path
    } else {
        format!(".{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Consumer, Derived, ProviderDecl, Resource, Variable};
    use crate::schema::testing::{path, schema};

    fn reference(id: &str, at: &str) -> Ref {
        Ref {
            resource: id.into(),
            path: path(at),
        }
    }

    fn object<const N: usize>(members: [(&str, Expr); N]) -> Expr {
        Expr::Object(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    fn resource(name: &str, index: Option<Index>, config: Expr) -> Resource {
        Resource {
            id: format!("a.t.{name}").into(),
            provider: "a".to_owned(),
            ty: "t".to_owned(),
            name: name.to_owned(),
            config,
            meta: Meta {
                index,
                depends_on: vec!["a.t.other".into()],
                ..Meta::default()
            },
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn a_configuration() {
        let template = Derived {
            inputs: vec![reference("a.t.other", "id")],
            template: None,
            sensitive: false,
            value: None,
        };
        let disk = |size: Expr| object([("size", size)]);
        let config = object([
            (
                "constant",
                Expr::List(vec![
                    Expr::Bool(true),
                    object([("k", Expr::String("v".into()))]),
                ]),
            ),
            ("null", Expr::Null),
            ("ref", Expr::Ref(reference("a.t.web__0", r#"tags["k"]"#))),
            ("derived", Expr::Derived(template)),
            (
                "disk",
                Expr::List(vec![
                    disk(Expr::Number(1_i64.into())),
                    disk(Expr::Ref(reference("a.t.other", "n"))),
                ]),
            ),
            (
                "zone",
                object([("z", object([("x", Expr::String("y".into()))]))]),
            ),
        ]);
        let variable = Variable {
            description: Some("Where.".to_owned()),
            sensitive: true,
            ..Variable::default()
        };
        let ir = Ir {
            providers: [(
                "a".to_owned(),
                ProviderDecl {
                    source: Expr::Null,
                    version: None,
                    meta: None,
                    config: object([("region", Expr::String("x".into()))]),
                },
            )]
            .into(),
            resources: vec![
                resource("other", None, config),
                resource("web__0", Some(Index::Number(0)), object([])),
                resource("web__1", Some(Index::Number(1)), object([])),
            ],
            consumers: vec![Consumer {
                id: "output.o".to_owned(),
                value: Expr::Ref(reference("a.t.other", "id")),
                sensitive: true,
                description: None,
            }],
            variables: [("region".to_owned(), variable)].into(),
            ..Ir::default()
        };
        let block = schema(
            "constant: any optional
             block disk list {
               size: number optional
             }
             block zone map {
               x: string optional
             }",
        );
        let input = ConfigurationInput {
            ir: &ir,
            schema: &|_, _, _| Some((2, &block)),
            sources: &[("a".to_owned(), "example.org/a/a".to_owned())].into(),
        };
        let text = serde_json::to_string(&Configuration::new(input)).expect("JSON");
        insta::assert_snapshot!(text.replace("},\"", "},\n\""), @r#"
        {"provider_config":{"a":{"name":"a","full_name":"example.org/a/a","expressions":{"region":{"constant_value":"x"}}}},
        "root_module":{"outputs":{"o":{"sensitive":true,"expression":{"references":["t.other.id","t.other"]}}},
        "resources":[{"address":"t.other","mode":"managed","type":"t","name":"other","provider_config_key":"a","expressions":{"constant":{"constant_value":[true,{"k":"v"}]},
        "derived":{"references":["t.other.id","t.other"]},
        "disk":[{"size":{"constant_value":1}},{"size":{"references":["t.other.n","t.other"]}}],"ref":{"references":["t.web[0].tags[\"k\"]","t.web[0].tags","t.web[0]"]},
        "zone":{"z":{"x":{"constant_value":"y"}}}},
        "schema_version":2,"depends_on":["t.other"]},{"address":"t.web","mode":"managed","type":"t","name":"web","provider_config_key":"a","expressions":{},
        "schema_version":2,"depends_on":["t.other"]}],"variables":{"region":{"description":"Where.","sensitive":true}}}}
        "#);
    }
}
