//! What a provider accepts: blocks, attributes, nesting; and how configuration is made to fit.

mod conform;
mod empty;
mod implied;
mod normalize;
mod schema;
mod schemas;
mod sensitive;
#[cfg(test)]
pub(crate) mod testing;

pub use conform::conform;
pub use empty::{empty_blocks, empty_value};
pub use implied::{attribute_type, block_type, conversion_type, implied_type, without_optional};
pub use normalize::normalize_blocks;
pub use schema::{
    Attribute, AttributeType, Block, Capabilities, Function, NestedAttribute, NestedBlock, Nesting,
    Parameter, ProviderSchema, Schema,
};
pub use schemas::Schemas;
pub use sensitive::{deprecations, fit_paths, sensitive_paths};
