//! The schema a provider sends, in the form the rest of the program uses.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use prost::{DecodeError, Message};

use super::convert::parse_type;
use super::proto::tfplugin6 as pb;
use super::schema_check::check_block;
use super::told::{Entry, Told};
use crate::schema::{
    Attribute, AttributeType, Block, Capabilities, Function, NestedAttribute, NestedBlock, Nesting,
    Parameter, ProviderSchema, Schema, Schemas,
};
use crate::value::Str;

/// A schema that breaks the rules of the protocol: a fault of the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid schema of {}: {problem}", Place(.place))]
pub struct SchemaError {
    /// From the inside out: attribute, block types, resource type.
    place: Vec<String>,
    problem: String,
}

impl SchemaError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self {
            place: Vec::new(),
            problem: problem.into(),
        }
    }

    /// The same, inside `name`.
    pub(super) fn within(mut self, name: impl Into<String>) -> Self {
        self.place.push(name.into());
        self
    }
}

struct Place<'a>(&'a [String]);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().rev().enumerate() {
            write!(f, "{}{name}", if i == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

/// Reads one schema.
type Read = fn(&[u8]) -> Result<pb::Schema, DecodeError>;

/// Decodes what was told, schemas of types when they are asked for; identities are added by [`identities`].
pub(super) fn decode(told: &Told) -> Result<ProviderSchema, SchemaError> {
    let read = told.decoder();
    let response = &told.schema;
    let later = |entries: &[Bytes], kind| -> Result<Schemas, SchemaError> {
        let entries = entries.iter().map(|bytes| {
            let Entry { name, schema } = entry(bytes, kind)?;
            // Whatever is wrong with it, `check` told.
            Ok((name, move || one(read, &schema).unwrap_or_default()))
        });
        Ok(Schemas::later(
            entries.collect::<Result<Vec<_>, SchemaError>>()?,
        ))
    };
    let own = |bytes: &Option<Bytes>, name| {
        let schema = bytes.as_ref().map(|bytes| one(read, bytes));
        schema.transpose().map_err(|e| e.within(name))
    };
    Ok(ProviderSchema {
        provider: own(&response.provider, "provider")?
            .ok_or_else(|| SchemaError::new("it is missing").within("provider"))?,
        provider_meta: own(&response.provider_meta, "provider_meta")?,
        resources: later(&response.resources, RESOURCE)?,
        data_sources: later(&response.data_sources, DATA_SOURCE)?,
        ephemeral_resources: later(&response.ephemeral_resources, EPHEMERAL)?,
        functions: named(response.functions.clone(), "function", function)?,
        identities: Schemas::default(),
        capabilities: response
            .server_capabilities
            .map(capabilities)
            .unwrap_or_default(),
    })
}

const RESOURCE: &str = "resource";
const DATA_SOURCE: &str = "data source";
const EPHEMERAL: &str = "ephemeral resource";

/// Whether all schemas of types are sound, one after the other, so that no two are in memory.
///
/// The rules of the protocol are enforced for resources of all kinds, not for the provider's own configuration:
/// providers exist that break them there.
pub(super) fn check(told: &Told) -> Result<(), SchemaError> {
    let kinds = [
        (&told.schema.resources, RESOURCE),
        (&told.schema.data_sources, DATA_SOURCE),
        (&told.schema.ephemeral_resources, EPHEMERAL),
    ];
    for (entries, kind) in kinds {
        for bytes in entries {
            let Entry { name, schema } = entry(bytes, kind)?;
            one(told.decoder(), &schema)
                .and_then(|schema| sound(&schema))
                .map_err(|e| e.within(format!("{kind} {name}")))?;
        }
    }
    Ok(())
}

fn entry(bytes: &Bytes, kind: &str) -> Result<Entry, SchemaError> {
    // From shared bytes: the schema inside is not copied.
    Entry::decode(bytes.clone()).map_err(|e| malformed(&e).within(kind))
}

fn one(read: Read, bytes: &[u8]) -> Result<Schema, SchemaError> {
    schema(read(bytes).map_err(|e| malformed(&e))?)
}

fn malformed(error: &DecodeError) -> SchemaError {
    SchemaError::new(format!("it cannot be decoded: {error}"))
}

fn sound(schema: &Schema) -> Result<(), SchemaError> {
    if schema.version < 0 {
        return Err(SchemaError::new("its version is negative"));
    }
    check_block(&schema.block)
}

/// Decodes the identity schemas of the managed resource types that `resources` has.
pub(super) fn identities(
    response: pb::get_resource_identity_schemas::Response,
    resources: &Schemas,
) -> Result<Schemas, SchemaError> {
    let mut schemas = response.identity_schemas;
    schemas.retain(|name, _| resources.contains_key(name));
    let schemas = named(schemas, "identity of resource", identity)?;
    Ok(schemas.into_iter().collect())
}

fn named<M, T>(
    messages: BTreeMap<String, M>,
    kind: &str,
    decode: impl Fn(M) -> Result<T, SchemaError>,
) -> Result<BTreeMap<String, T>, SchemaError> {
    messages
        .into_iter()
        .map(|(name, message)| match decode(message) {
            Ok(decoded) => Ok((name, decoded)),
            Err(e) => Err(e.within(format!("{kind} {name}"))),
        })
        .collect()
}

fn capabilities(message: pb::ServerCapabilities) -> Capabilities {
    Capabilities {
        plan_destroy: message.plan_destroy,
        get_provider_schema_optional: message.get_provider_schema_optional,
        move_resource_state: message.move_resource_state,
        generate_resource_config: message.generate_resource_config,
    }
}

fn schema(message: pb::Schema) -> Result<Schema, SchemaError> {
    Ok(Schema {
        version: message.version,
        block: block(message.block.unwrap_or_default())?,
    })
}

fn block(mut message: pb::schema::Block) -> Result<Block, SchemaError> {
    let attributes = attributes(std::mem::take(&mut message.attributes))?;
    let mut block_types = BTreeMap::new();
    for nested in std::mem::take(&mut message.block_types) {
        let name: Str = nested.type_name.as_str().into();
        let nested = nested_block(nested).map_err(|e| e.within(&*name))?;
        block_types.insert(name, nested);
    }
    let markdown = message.description_kind() == pb::StringKind::Markdown;
    Ok(Block {
        attributes,
        block_types,
        description: message.description,
        markdown,
        deprecated: message.deprecated,
        deprecation_message: message.deprecation_message,
    })
}

fn nested_block(message: pb::schema::NestedBlock) -> Result<NestedBlock, SchemaError> {
    use pb::schema::nested_block::NestingMode;
    let nesting = match message.nesting() {
        NestingMode::Single => Nesting::Single,
        NestingMode::Group => Nesting::Group,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
        NestingMode::Invalid => {
            return Err(SchemaError::new(format!(
                "nesting mode {} does not exist",
                message.nesting
            )));
        }
    };
    let count = |n: i64, what| {
        u64::try_from(n).map_err(|_| SchemaError::new(format!("the {what} number is negative")))
    };
    Ok(NestedBlock {
        block: block(message.block.unwrap_or_default())?,
        nesting,
        min_items: count(message.min_items, "least")?,
        max_items: count(message.max_items, "greatest")?,
    })
}

fn attributes(
    messages: Vec<pb::schema::Attribute>,
) -> Result<BTreeMap<Str, Attribute>, SchemaError> {
    messages
        .into_iter()
        .map(|message| {
            let name: Str = message.name.as_str().into();
            let attribute = attribute(message).map_err(|e| e.within(&*name))?;
            Ok((name, attribute))
        })
        .collect()
}

fn attribute(message: pb::schema::Attribute) -> Result<Attribute, SchemaError> {
    let markdown = message.description_kind() == pb::StringKind::Markdown;
    let ty = match (message.nested_type, message.r#type) {
        (Some(nested), ty) if ty.is_empty() => AttributeType::Nested(nested_attribute(nested)?),
        (None, ty) if !ty.is_empty() => AttributeType::Plain(parse_type(&ty)?),
        (Some(_), _) => return Err(SchemaError::new("it has a type and a nested type")),
        (None, _) => return Err(SchemaError::new("it has no type")),
    };
    Ok(Attribute {
        ty,
        description: message.description,
        markdown,
        required: message.required,
        optional: message.optional,
        computed: message.computed,
        sensitive: message.sensitive,
        write_only: message.write_only,
        deprecated: message.deprecated,
        deprecation_message: message.deprecation_message,
    })
}

fn nested_attribute(message: pb::schema::Object) -> Result<NestedAttribute, SchemaError> {
    use pb::schema::object::NestingMode;
    let nesting = match message.nesting() {
        NestingMode::Single => Nesting::Single,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
        NestingMode::Invalid => {
            return Err(SchemaError::new(format!(
                "nesting mode {} does not exist",
                message.nesting
            )));
        }
    };
    Ok(NestedAttribute {
        attributes: attributes(message.attributes)?,
        nesting,
    })
}

fn identity(message: pb::ResourceIdentitySchema) -> Result<Schema, SchemaError> {
    let attributes = message.identity_attributes.into_iter().map(|a| {
        let ty = parse_type(&a.r#type).map_err(|e| e.within(&*a.name))?;
        let attribute = Attribute {
            required: a.required_for_import,
            optional: a.optional_for_import,
            description: a.description,
            ..Attribute::plain(ty)
        };
        Ok((a.name.into(), attribute))
    });
    Ok(Schema {
        version: message.version,
        block: Block {
            attributes: attributes.collect::<Result<_, _>>()?,
            ..Block::default()
        },
    })
}

fn function(message: pb::Function) -> Result<Function, SchemaError> {
    let returns = message
        .r#return
        .ok_or_else(|| SchemaError::new("it returns nothing"))?;
    Ok(Function {
        parameters: message
            .parameters
            .into_iter()
            .map(parameter)
            .collect::<Result<_, _>>()?,
        variadic: message.variadic_parameter.map(parameter).transpose()?,
        returns: parse_type(&returns.r#type).map_err(|e| e.within("return value"))?,
        summary: message.summary,
        description: message.description,
        deprecation_message: message.deprecation_message,
    })
}

fn parameter(message: pb::function::Parameter) -> Result<Parameter, SchemaError> {
    Ok(Parameter {
        ty: parse_type(&message.r#type).map_err(|e| e.within(&*message.name))?,
        name: message.name,
        allow_null: message.allow_null_value,
        allow_unknown: message.allow_unknown_values,
        description: message.description,
    })
}

#[cfg(test)]
mod tests {
    use super::super::proto::tfplugin5 as v5;
    use super::super::rpc::Protocol;
    use super::super::told::Response;
    use super::*;
    use crate::value::Type;

    fn text(name: &str) -> pb::schema::Attribute {
        pb::schema::Attribute {
            name: name.to_owned(),
            r#type: br#""string""#.to_vec(),
            optional: true,
            ..Default::default()
        }
    }

    fn told(protocol: Protocol, response: &impl Message) -> Told {
        let response = Response::decode(response.encode_to_vec().as_slice()).unwrap();
        Told::new(
            protocol,
            response,
            pb::get_resource_identity_schemas::Response::default(),
        )
    }

    /// As it is done with what a provider of protocol 6 tells.
    fn accept(response: &pb::get_provider_schema::Response) -> Result<ProviderSchema, SchemaError> {
        let told = told(Protocol::V6, response);
        check(&told)?;
        decode(&told)
    }

    fn resource(block: pb::schema::Block) -> pb::get_provider_schema::Response {
        let schema = pb::Schema {
            version: 2,
            block: Some(block),
        };
        pb::get_provider_schema::Response {
            provider: Some(pb::Schema::default()),
            resource_schemas: BTreeMap::from([("x_y".to_owned(), schema)]),
            ..Default::default()
        }
    }

    #[test]
    fn attributes_and_blocks_are_taken_over() {
        let nested = pb::schema::Object {
            attributes: vec![text("inner")],
            nesting: 3,
            ..Default::default()
        };
        let list = pb::schema::NestedBlock {
            type_name: "rule".to_owned(),
            nesting: 2,
            min_items: 1,
            max_items: 4,
            ..Default::default()
        };
        let message = resource(pb::schema::Block {
            attributes: vec![
                pb::schema::Attribute {
                    write_only: true,
                    sensitive: true,
                    deprecation_message: "use b".to_owned(),
                    ..text("a")
                },
                pb::schema::Attribute {
                    r#type: Vec::new(),
                    nested_type: Some(nested),
                    ..text("n")
                },
            ],
            block_types: vec![list],
            ..Default::default()
        });
        let schema = accept(&message).unwrap();
        let resource = &schema.resources["x_y"];
        assert_eq!(resource.version, 2);
        let a = &resource.block.attributes["a"];
        assert!(a.write_only && a.sensitive && a.optional);
        assert_eq!(a.deprecation_message, "use b");
        let inner = BTreeMap::from([("inner".into(), Attribute::plain(Type::String).optional())]);
        let expected = Attribute::nested(Nesting::Set, inner).optional();
        assert_eq!(resource.block.attributes["n"], expected);
        let rule = &resource.block.block_types["rule"];
        assert_eq!(
            (rule.nesting, rule.min_items, rule.max_items),
            (Nesting::List, 1, 4)
        );
    }

    #[test]
    fn protocol_5_gives_the_same_schema_from_its_own_fields() {
        let message = v5::get_provider_schema::Response {
            provider: Some(v5::Schema::default()),
            resource_schemas: BTreeMap::from([(
                "x_y".to_owned(),
                v5::Schema {
                    version: 2,
                    block: Some(v5::schema::Block {
                        attributes: vec![v5::schema::Attribute {
                            name: "a".to_owned(),
                            r#type: br#""string""#.to_vec(),
                            optional: true,
                            write_only: true,
                            deprecation_message: "use b".to_owned(),
                            ..Default::default()
                        }],
                        ..Default::default()
                    }),
                },
            )]),
            server_capabilities: Some(v5::ServerCapabilities {
                plan_destroy: true,
                ..Default::default()
            }),
            functions: BTreeMap::from([(
                "f".to_owned(),
                v5::Function {
                    r#return: Some(v5::function::Return {
                        r#type: br#""bool""#.to_vec(),
                    }),
                    ..Default::default()
                },
            )]),
            ..Default::default()
        };
        // The two protocols disagree on these bytes, which is why there are two decoders.
        assert!(pb::get_provider_schema::Response::decode(&*message.encode_to_vec()).is_err());
        let schema = decode(&told(Protocol::V5, &message)).unwrap();
        let expected = pb::schema::Attribute {
            write_only: true,
            deprecation_message: "use b".to_owned(),
            ..text("a")
        };
        let block = pb::schema::Block {
            attributes: vec![expected],
            ..Default::default()
        };
        assert_eq!(
            schema.resources,
            accept(&resource(block)).unwrap().resources
        );
        assert!(schema.capabilities.plan_destroy);
        assert_eq!(schema.functions["f"].returns, Type::Bool);
    }

    #[test]
    fn faults_name_their_place() {
        let attribute = |attribute| pb::schema::Block {
            attributes: vec![attribute],
            ..Default::default()
        };
        let rule = |nested| pb::schema::Block {
            block_types: vec![pb::schema::NestedBlock {
                type_name: "rule".to_owned(),
                nesting: 2,
                ..nested
            }],
            ..Default::default()
        };
        let cases = [
            (
                attribute(pb::schema::Attribute {
                    r#type: Vec::new(),
                    ..text("a")
                }),
                "resource x_y.a: it has no type",
            ),
            (
                attribute(pb::schema::Attribute {
                    nested_type: Some(pb::schema::Object::default()),
                    ..text("a")
                }),
                "resource x_y.a: it has a type and a nested type",
            ),
            (
                attribute(pb::schema::Attribute {
                    optional: false,
                    ..text("a")
                }),
                "resource x_y.a: it is neither required, optional nor computed",
            ),
            (
                rule(pb::schema::NestedBlock {
                    min_items: -1,
                    ..Default::default()
                }),
                "resource x_y.rule: the least number is negative",
            ),
            (
                rule(pb::schema::NestedBlock {
                    block: Some(attribute(pb::schema::Attribute {
                        r#type: b"nonsense".to_vec(),
                        ..text("a")
                    })),
                    ..Default::default()
                }),
                "resource x_y.rule.a: its type is invalid",
            ),
        ];
        for (block, message) in cases {
            let error = accept(&resource(block)).expect_err(message).to_string();
            assert!(
                error.starts_with(&format!("invalid schema of {message}")),
                "{error}"
            );
        }
        let missing = accept(&pb::get_provider_schema::Response::default());
        let error = missing.unwrap_err().to_string();
        assert_eq!(error, "invalid schema of provider: it is missing");
    }

    #[test]
    fn identities_of_other_types_are_left_out() {
        let identity = |required| pb::ResourceIdentitySchema {
            version: 1,
            identity_attributes: vec![pb::resource_identity_schema::IdentityAttribute {
                name: "id".to_owned(),
                r#type: br#""string""#.to_vec(),
                required_for_import: required,
                ..Default::default()
            }],
        };
        let message = pb::get_resource_identity_schemas::Response {
            identity_schemas: BTreeMap::from([
                ("x_y".to_owned(), identity(true)),
                ("x_other".to_owned(), identity(false)),
            ]),
            ..Default::default()
        };
        let schema = accept(&resource(pb::schema::Block::default())).unwrap();
        let found = identities(message, &schema.resources).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["x_y"]);
        assert!(found["x_y"].block.attributes["id"].required);
    }
}
