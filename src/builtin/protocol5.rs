//! What differs in protocol 5: names of calls and the form of schemas.

use tonic::Status;

use crate::provider::proto::{tfplugin5 as v5, tfplugin6 as v6};

/// The protocol 6 name of a protocol 5 call; most are the same.
pub(super) fn method(name: &str) -> &str {
    match name {
        "PrepareProviderConfig" => "ValidateProviderConfig",
        "ValidateResourceTypeConfig" => "ValidateResourceConfig",
        "ValidateDataSourceConfig" => "ValidateDataResourceConfig",
        "Configure" => "ConfigureProvider",
        "Stop" => "StopProvider",
        other => other,
    }
}

/// The answer to `GetSchema`.
pub(super) fn schemas(
    from: v6::get_provider_schema::Response,
) -> Result<v5::get_provider_schema::Response, Status> {
    let all = |schemas: std::collections::BTreeMap<String, v6::Schema>| {
        schemas
            .into_iter()
            .map(|(name, s)| Ok((name, schema(s)?)))
            .collect::<Result<_, Status>>()
    };
    Ok(v5::get_provider_schema::Response {
        provider: from.provider.map(schema).transpose()?,
        resource_schemas: all(from.resource_schemas)?,
        data_source_schemas: all(from.data_source_schemas)?,
        ephemeral_resource_schemas: all(from.ephemeral_resource_schemas)?,
        provider_meta: from.provider_meta.map(schema).transpose()?,
        ..recode(&v6::get_provider_schema::Response {
            diagnostics: from.diagnostics,
            server_capabilities: from.server_capabilities,
            functions: from.functions,
            ..Default::default()
        })?
    })
}

fn schema(from: v6::Schema) -> Result<v5::Schema, Status> {
    Ok(v5::Schema {
        version: from.version,
        block: from.block.map(block).transpose()?,
    })
}

fn block(from: v6::schema::Block) -> Result<v5::schema::Block, Status> {
    let block_types = from.block_types.into_iter().map(nested_block);
    Ok(v5::schema::Block {
        version: from.version,
        attributes: from
            .attributes
            .into_iter()
            .map(attribute)
            .collect::<Result<_, _>>()?,
        block_types: block_types.collect::<Result<_, _>>()?,
        description: from.description,
        description_kind: from.description_kind,
        deprecated: from.deprecated,
        deprecation_message: from.deprecation_message,
    })
}

fn nested_block(from: v6::schema::NestedBlock) -> Result<v5::schema::NestedBlock, Status> {
    Ok(v5::schema::NestedBlock {
        type_name: from.type_name,
        block: from.block.map(block).transpose()?,
        nesting: from.nesting,
        min_items: from.min_items,
        max_items: from.max_items,
    })
}

fn attribute(from: v6::schema::Attribute) -> Result<v5::schema::Attribute, Status> {
    if from.nested_type.is_some() {
        return Err(Status::internal(format!(
            "attribute {:?} has attributes of its own, which protocol 5 cannot say",
            from.name
        )));
    }
    Ok(v5::schema::Attribute {
        name: from.name,
        r#type: from.r#type,
        description: from.description,
        required: from.required,
        optional: from.optional,
        computed: from.computed,
        sensitive: from.sensitive,
        description_kind: from.description_kind,
        deprecated: from.deprecated,
        write_only: from.write_only,
        deprecation_message: from.deprecation_message,
    })
}

/// Between messages whose fields agree.
fn recode<T: prost::Message + Default>(from: &impl prost::Message) -> Result<T, Status> {
    T::decode(from.encode_to_vec().as_slice()).map_err(|e| Status::internal(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_attribute_fields_keep_their_meaning() {
        let from = v6::schema::Attribute {
            name: "token".to_owned(),
            write_only: true,
            deprecation_message: "use key".to_owned(),
            ..Default::default()
        };
        let to = attribute(from).unwrap();
        assert!(to.write_only);
        assert_eq!(to.deprecation_message, "use key");
    }

    #[test]
    fn nested_attributes_are_refused() {
        let from = v6::schema::Attribute {
            nested_type: Some(v6::schema::Object::default()),
            ..Default::default()
        };
        assert!(attribute(from).is_err());
    }
}
