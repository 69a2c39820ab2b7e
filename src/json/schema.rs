//! What providers accept: what `providers schema --json` prints.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::schema::{
    Attribute, AttributeType, Block, Function, NestedBlock, Nesting, Parameter, ProviderSchema,
    Schema,
};
use crate::value::Type;

/// The schemas of some providers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemasDoc {
    /// Version of the format.
    pub format_version: &'static str,
    /// The schemas by the provider's source address.
    pub provider_schemas: BTreeMap<String, Json>,
}

impl SchemasDoc {
    /// The document of these schemas, by source address.
    pub fn new<'a>(schemas: impl IntoIterator<Item = (String, &'a ProviderSchema)>) -> Self {
        let schemas = schemas
            .into_iter()
            .map(|(source, schema)| (source, provider_json(schema)));
        Self {
            format_version: "1.0",
            provider_schemas: schemas.collect(),
        }
    }
}

fn provider_json(schema: &ProviderSchema) -> Json {
    let mut json = Map::new();
    json.insert("provider".to_owned(), schema_json(&schema.provider));
    let kinds = [
        ("resource_schemas", &schema.resources),
        ("data_source_schemas", &schema.data_sources),
        ("ephemeral_resource_schemas", &schema.ephemeral_resources),
    ];
    for (key, schemas) in kinds {
        if !schemas.is_empty() {
            json.insert(key.to_owned(), by_name(schemas.iter(), schema_json));
        }
    }
    if !schema.identities.is_empty() {
        json.insert(
            "resource_identity_schemas".to_owned(),
            by_name(schema.identities.iter(), identity_json),
        );
    }
    if !schema.functions.is_empty() {
        json.insert(
            "functions".to_owned(),
            by_name(schema.functions.iter(), function_json),
        );
    }
    Json::Object(json)
}

fn by_name<'a, K: ToString + 'a, V: 'a>(
    all: impl Iterator<Item = (&'a K, &'a V)>,
    json: fn(&V) -> Json,
) -> Json {
    Json::Object(all.map(|(name, v)| (name.to_string(), json(v))).collect())
}

fn schema_json(schema: &Schema) -> Json {
    json!({ "version": schema.version, "block": block_json(&schema.block) })
}

/// An identity: what is required in it, and what is optional, is so for an import.
fn identity_json(schema: &Schema) -> Json {
    let attributes = by_name(schema.block.attributes.iter(), |attribute| {
        let mut json = Map::new();
        if let AttributeType::Plain(ty) = &attribute.ty {
            json.insert("type".to_owned(), type_json(ty));
        }
        if !attribute.description.is_empty() {
            json.insert(
                "description".to_owned(),
                attribute.description.as_str().into(),
            );
        }
        let flags = [
            ("required_for_import", attribute.required),
            ("optional_for_import", attribute.optional),
        ];
        let flags = flags.into_iter().filter(|(_, set)| *set);
        json.extend(flags.map(|(flag, set)| (flag.to_owned(), set.into())));
        Json::Object(json)
    });
    json!({ "version": schema.version, "attributes": attributes })
}

fn block_json(block: &Block) -> Json {
    let mut json = Map::new();
    if !block.attributes.is_empty() {
        json.insert(
            "attributes".to_owned(),
            by_name(block.attributes.iter(), attribute_json),
        );
    }
    if !block.block_types.is_empty() {
        json.insert(
            "block_types".to_owned(),
            by_name(block.block_types.iter(), nested_block_json),
        );
    }
    describe(&mut json, &block.description, block.markdown);
    if block.deprecated {
        json.insert("deprecated".to_owned(), true.into());
    }
    Json::Object(json)
}

fn describe(json: &mut Map<String, Json>, description: &str, markdown: bool) {
    if !description.is_empty() {
        json.insert("description".to_owned(), description.into());
    }
    let kind = if markdown { "markdown" } else { "plain" };
    json.insert("description_kind".to_owned(), kind.into());
}

fn attribute_json(attribute: &Attribute) -> Json {
    let mut json = Map::new();
    match &attribute.ty {
        AttributeType::Plain(ty) => {
            json.insert("type".to_owned(), type_json(ty));
        }
        AttributeType::Nested(nested) => {
            let attributes = by_name(nested.attributes.iter(), attribute_json);
            let nesting = nesting(nested.nesting);
            let nested = json!({ "attributes": attributes, "nesting_mode": nesting });
            json.insert("nested_type".to_owned(), nested);
        }
    }
    describe(&mut json, &attribute.description, attribute.markdown);
    let flags = [
        ("required", attribute.required),
        ("optional", attribute.optional),
        ("computed", attribute.computed),
        ("sensitive", attribute.sensitive),
        ("write_only", attribute.write_only),
        ("deprecated", attribute.deprecated),
    ];
    let flags = flags.into_iter().filter(|(_, set)| *set);
    json.extend(flags.map(|(flag, set)| (flag.to_owned(), set.into())));
    Json::Object(json)
}

fn nested_block_json(nested: &NestedBlock) -> Json {
    let mut json = Map::new();
    json.insert("nesting_mode".to_owned(), nesting(nested.nesting).into());
    json.insert("block".to_owned(), block_json(&nested.block));
    for (key, n) in [
        ("min_items", nested.min_items),
        ("max_items", nested.max_items),
    ] {
        if n > 0 {
            json.insert(key.to_owned(), n.into());
        }
    }
    Json::Object(json)
}

fn nesting(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}

fn function_json(function: &Function) -> Json {
    let mut json = Map::new();
    for (key, text) in [
        ("description", &function.description),
        ("summary", &function.summary),
        ("deprecation_message", &function.deprecation_message),
    ] {
        if !text.is_empty() {
            json.insert(key.to_owned(), text.as_str().into());
        }
    }
    json.insert("return_type".to_owned(), type_json(&function.returns));
    if !function.parameters.is_empty() {
        let parameters = function.parameters.iter().map(parameter_json).collect();
        json.insert("parameters".to_owned(), parameters);
    }
    if let Some(variadic) = &function.variadic {
        json.insert("variadic_parameter".to_owned(), parameter_json(variadic));
    }
    Json::Object(json)
}

fn parameter_json(parameter: &Parameter) -> Json {
    let mut json = Map::new();
    json.insert("name".to_owned(), parameter.name.as_str().into());
    if !parameter.description.is_empty() {
        json.insert(
            "description".to_owned(),
            parameter.description.as_str().into(),
        );
    }
    if parameter.allow_null {
        json.insert("is_nullable".to_owned(), true.into());
    }
    json.insert("type".to_owned(), type_json(&parameter.ty));
    Json::Object(json)
}

fn type_json(ty: &Type) -> Json {
    serde_json::from_str(&ty.to_json()).unwrap_or(Json::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::schema;

    #[test]
    fn an_identity() {
        let identity = Schema {
            version: 1,
            block: schema("id: string required\n zone: string optional"),
        };
        let attributes = json!({
            "id": { "type": "string", "required_for_import": true },
            "zone": { "type": "string", "optional_for_import": true },
        });
        let expected = json!({ "version": 1, "attributes": attributes });
        assert_eq!(identity_json(&identity), expected);
    }

    #[test]
    fn a_provider() {
        let block = schema(
            "id: string computed
             tags: map(object(k: string?)) optional sensitive deprecated
             n: list optional {
               pw: string required write_only
             }
             block disk set min=1 max=2 {
               size: number optional
             }",
        );
        let parameter = |name: &str, ty, allow_null| Parameter {
            name: name.to_owned(),
            ty,
            allow_null,
            allow_unknown: false,
            description: String::new(),
        };
        let function = Function {
            parameters: vec![parameter("text", Type::String, true)],
            variadic: Some(parameter("rest", Type::Dynamic, false)),
            returns: Type::list(Type::String),
            summary: "Splits.".to_owned(),
            description: String::new(),
            deprecation_message: String::new(),
        };
        let provider = ProviderSchema {
            provider: Schema::default(),
            resources: [("a_thing".to_owned(), Schema { version: 3, block })]
                .into_iter()
                .collect(),
            functions: [("split".to_owned(), function)].into(),
            ..ProviderSchema::default()
        };
        let doc = SchemasDoc::new([("registry.example/a/a".to_owned(), &provider)]);
        let text = serde_json::to_string(&doc).expect("JSON");
        insta::assert_snapshot!(text.replace("\":{\"", "\":{\n\""), @r#"
        {"format_version":"1.0","provider_schemas":{
        "registry.example/a/a":{
        "functions":{
        "split":{
        "parameters":[{"is_nullable":true,"name":"text","type":"string"}],"return_type":["list","string"],"summary":"Splits.","variadic_parameter":{
        "name":"rest","type":"dynamic"}}},"provider":{
        "block":{
        "description_kind":"plain"},"version":0},"resource_schemas":{
        "a_thing":{
        "block":{
        "attributes":{
        "id":{
        "computed":true,"description_kind":"plain","type":"string"},"n":{
        "description_kind":"plain","nested_type":{
        "attributes":{
        "pw":{
        "description_kind":"plain","required":true,"type":"string","write_only":true}},"nesting_mode":"list"},"optional":true},"tags":{
        "deprecated":true,"description_kind":"plain","optional":true,"sensitive":true,"type":["map",["object",{"k":"string"},["k"]]]}},"block_types":{
        "disk":{
        "block":{
        "attributes":{
        "size":{
        "description_kind":"plain","optional":true,"type":"number"}},"description_kind":"plain"},"max_items":2,"min_items":1,"nesting_mode":"set"}},"description_kind":"plain"},"version":3}}}}}
        "#);
    }
}
