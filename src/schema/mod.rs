//! What a provider accepts: blocks, attributes, nesting; and how configuration is made to fit.

mod schema;

pub use schema::{
    Attribute, AttributeType, Block, Capabilities, Function, NestedAttribute, NestedBlock, Nesting,
    Parameter, ProviderSchema, Schema,
};
