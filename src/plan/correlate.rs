//! Which prior element of a set belongs to which configured one.
//!
//! Elements of sets have no name to find them by. A prior element is taken for the one that a configured element led to
//! if all that differs between the two is computed and not configured.

use super::parts::{Element, entries, items};
use crate::schema::{Attribute, AttributeType, Nesting, attribute_type, block_type};
use crate::value::{Entries, Type, Value};

/// Whether this configuration could have led to this prior value: all that differs is computed and not configured.
pub(super) fn could_come_from(of: Element<'_>, prior: &Value, config: &Value) -> bool {
    if prior.unrefined_eq(config) {
        return true;
    }
    let Value::Object(members) = prior else {
        return true;
    };
    members.iter().all(|(name, prior)| {
        let (attributes, blocks) = match of {
            Element::Block(block) => (&block.attributes, Some(&block.block_types)),
            Element::Object(nested) => (&nested.attributes, None),
        };
        let (attribute, block) = (
            attributes.get(name),
            blocks.and_then(|blocks| blocks.get(name)),
        );
        let config = match config {
            Value::Object(o) => o.get(name).cloned(),
            Value::Unknown(_) => attribute
                .map(attribute_type)
                .or_else(|| block.map(block_type))
                .map(Value::unknown),
            _ => None,
        };
        let Some(config) = config else { return false };
        if prior.unrefined_eq(&config) {
            return true;
        }
        match (attribute, block) {
            _ if matches!(config.ty(), Type::Set(_)) => false,
            (
                Some(Attribute {
                    ty: AttributeType::Nested(nested),
                    ..
                }),
                _,
            ) => {
                collection_could_come_from(Element::Object(nested), nested.nesting, prior, &config)
            }
            (Some(attribute), _) => attribute.computed && config.is_null(),
            (None, Some(block)) => collection_could_come_from(
                Element::Block(&block.block),
                block.nesting,
                prior,
                &config,
            ),
            (None, None) => true,
        }
    })
}

fn collection_could_come_from(
    of: Element<'_>,
    nesting: Nesting,
    prior: &Value,
    config: &Value,
) -> bool {
    let unknown = (!config.is_known()).then(|| Value::unknown(of.ty()));
    match nesting {
        Nesting::Single | Nesting::Group => could_come_from(of, prior, config),
        Nesting::List | Nesting::Set => items(prior).iter().enumerate().all(|(i, prior)| {
            let config = unknown.as_ref().or_else(|| items(config).get(i));
            config.is_some_and(|config| could_come_from(of, prior, config))
        }),
        Nesting::Map => entries(prior)
            .into_iter()
            .flat_map(Entries::iter)
            .all(|(key, prior)| {
                let config = unknown.as_ref().or_else(|| entries(config)?.get(key));
                config.is_some_and(|config| could_come_from(of, prior, config))
            }),
    }
}
