//! The schema messages of protocol 5 as those of protocol 6.
//!
//! Attributes are the one place where the two protocols use the same field numbers for different things; a message that
//! holds attributes has to be taken over field by field.

use std::collections::BTreeMap;

use prost::Message;

use super::proto::{tfplugin5 as v5, tfplugin6 as v6};

/// The whole response.
pub(super) fn response(
    message: v5::get_provider_schema::Response,
) -> v6::get_provider_schema::Response {
    v6::get_provider_schema::Response {
        provider: message.provider.map(schema),
        resource_schemas: schemas(message.resource_schemas),
        data_source_schemas: schemas(message.data_source_schemas),
        diagnostics: message.diagnostics.iter().map(same).collect(),
        provider_meta: message.provider_meta.map(schema),
        server_capabilities: message.server_capabilities.as_ref().map(same),
        functions: message
            .functions
            .into_iter()
            .map(|(name, f)| (name, same(&f)))
            .collect(),
        ephemeral_resource_schemas: schemas(message.ephemeral_resource_schemas),
        ..Default::default()
    }
}

/// A message that is the same on the wire in both protocols.
fn same<M: Message, N: Message + Default>(message: &M) -> N {
    N::decode(message.encode_to_vec().as_slice()).unwrap_or_default()
}

fn schemas(messages: BTreeMap<String, v5::Schema>) -> BTreeMap<String, v6::Schema> {
    messages
        .into_iter()
        .map(|(name, message)| (name, schema(message)))
        .collect()
}

fn schema(message: v5::Schema) -> v6::Schema {
    v6::Schema {
        version: message.version,
        block: message.block.map(block),
    }
}

fn block(message: v5::schema::Block) -> v6::schema::Block {
    v6::schema::Block {
        version: message.version,
        attributes: message.attributes.into_iter().map(attribute).collect(),
        block_types: message.block_types.into_iter().map(nested_block).collect(),
        description: message.description,
        description_kind: message.description_kind,
        deprecated: message.deprecated,
        deprecation_message: message.deprecation_message,
        ..Default::default()
    }
}

fn nested_block(message: v5::schema::NestedBlock) -> v6::schema::NestedBlock {
    v6::schema::NestedBlock {
        type_name: message.type_name,
        block: message.block.map(block),
        nesting: message.nesting,
        min_items: message.min_items,
        max_items: message.max_items,
    }
}

fn attribute(message: v5::schema::Attribute) -> v6::schema::Attribute {
    v6::schema::Attribute {
        name: message.name,
        r#type: message.r#type,
        description: message.description,
        required: message.required,
        optional: message.optional,
        computed: message.computed,
        sensitive: message.sensitive,
        description_kind: message.description_kind,
        deprecated: message.deprecated,
        nested_type: None,
        write_only: message.write_only,
        deprecation_message: message.deprecation_message,
    }
}
