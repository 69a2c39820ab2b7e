//! The schema messages of protocol 5 as those of protocol 6.
//!
//! Attributes are the one place where the two protocols use the same field numbers for different things; a message that
//! holds attributes has to be taken over field by field.

use super::proto::{tfplugin5 as v5, tfplugin6 as v6};

/// One schema.
pub(super) fn schema(message: v5::Schema) -> v6::Schema {
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
