//! The schema of a provider, one form for protocol 5 and 6.

use std::collections::BTreeMap;

use super::schemas::Schemas;
use crate::value::{Str, Type};

/// Everything a provider says about itself.
#[derive(Debug, Default, PartialEq)]
pub struct ProviderSchema {
    /// Its own configuration.
    pub provider: Schema,
    /// The `provider_meta` block, if it supports one.
    pub provider_meta: Option<Schema>,
    /// Managed resource types.
    pub resources: Schemas,
    /// Data source types.
    pub data_sources: Schemas,
    /// Ephemeral resource types.
    pub ephemeral_resources: Schemas,
    /// Functions by name.
    pub functions: BTreeMap<String, Function>,
    /// Identity schemas by managed resource type.
    pub identities: Schemas,
    /// What the server can do beyond the base protocol.
    pub capabilities: Capabilities,
}

/// Optional abilities of a provider (protocol `ServerCapabilities`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own flags")]
pub struct Capabilities {
    /// `PlanResourceChange` wants to see destroys.
    pub plan_destroy: bool,
    /// Other calls work without `GetProviderSchema` having been called in the process.
    pub get_provider_schema_optional: bool,
    /// `MoveResourceState` is implemented.
    pub move_resource_state: bool,
    /// `GenerateResourceConfig` is implemented.
    pub generate_resource_config: bool,
}

/// A versioned block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Version of the stored form; upgrades count from it.
    pub version: i64,
    /// The content.
    pub block: Block,
}

/// Attributes and nested blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Attributes by name.
    pub attributes: BTreeMap<Str, Attribute>,
    /// Nested block types by name.
    pub block_types: BTreeMap<Str, NestedBlock>,
    /// For people; may be empty.
    pub description: String,
    /// Whether the description is Markdown, plain text otherwise.
    pub markdown: bool,
    /// Whether its use is discouraged.
    pub deprecated: bool,
    /// What to use instead; may be empty.
    pub deprecation_message: String,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own flags")]
pub struct Attribute {
    /// What it holds.
    pub ty: AttributeType,
    /// For people; may be empty.
    pub description: String,
    /// Whether the description is Markdown, plain text otherwise.
    pub markdown: bool,
    /// Must be in the configuration.
    pub required: bool,
    /// May be in the configuration.
    pub optional: bool,
    /// The provider may choose the value.
    pub computed: bool,
    /// Never to be shown.
    pub sensitive: bool,
    /// Sent in the configuration, never stored.
    pub write_only: bool,
    /// Whether its use is discouraged.
    pub deprecated: bool,
    /// What to use instead; may be empty.
    pub deprecation_message: String,
}

/// The type of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A type constraint.
    Plain(Type),
    /// Attributes of its own (protocol 6 only).
    Nested(NestedAttribute),
}

/// An attribute that has attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedAttribute {
    /// The attributes.
    pub attributes: BTreeMap<Str, Attribute>,
    /// How many and under what; never `Group`.
    pub nesting: Nesting,
}

/// A nested block type.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    /// The content of each block.
    pub block: Block,
    /// How many and under what.
    pub nesting: Nesting,
    /// Least number of blocks.
    pub min_items: u64,
    /// Greatest number of blocks; 0 means no limit.
    pub max_items: u64,
}

/// How nested blocks or attributes are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// At most one, null without.
    Single,
    /// Exactly one; without one in the configuration an empty one is made up. Blocks only.
    Group,
    /// Ordered.
    List,
    /// Unordered, distinct.
    Set,
    /// By key.
    Map,
}

/// The signature of a provider function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Positional parameters.
    pub parameters: Vec<Parameter>,
    /// Takes all further arguments.
    pub variadic: Option<Parameter>,
    /// Type of the result.
    pub returns: Type,
    /// One line for people; may be empty.
    pub summary: String,
    /// More for people; may be empty.
    pub description: String,
    /// What to use instead; empty unless deprecated.
    pub deprecation_message: String,
}

impl Function {
    /// The parameters for so many arguments; fewer or more than that if the number is wrong.
    pub fn parameters_of(&self, arguments: usize) -> impl Iterator<Item = &Parameter> {
        let further = arguments.saturating_sub(self.parameters.len());
        let variadic = self.variadic.iter().cycle().take(further);
        self.parameters.iter().chain(variadic)
    }
}

/// One parameter of a [`Function`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// For messages.
    pub name: String,
    /// Type of the argument.
    pub ty: Type,
    /// Null may be passed.
    pub allow_null: bool,
    /// Unknown may be passed.
    pub allow_unknown: bool,
    /// For people; may be empty.
    pub description: String,
}

impl Attribute {
    /// A plain attribute with no flag set and no description.
    pub fn plain(ty: Type) -> Self {
        Self::of(AttributeType::Plain(ty))
    }

    /// A nested attribute with no flag set and no description.
    pub fn nested(nesting: Nesting, attributes: BTreeMap<Str, Self>) -> Self {
        Self::of(AttributeType::Nested(NestedAttribute {
            attributes,
            nesting,
        }))
    }

    fn of(ty: AttributeType) -> Self {
        Self {
            ty,
            description: String::new(),
            markdown: false,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: false,
            deprecation_message: String::new(),
        }
    }

    /// The same, required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same, optional.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The same, computed.
    #[must_use]
    pub fn computed(mut self) -> Self {
        self.computed = true;
        self
    }

    /// The same, sensitive.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// The same, with a description.
    #[must_use]
    pub fn describe(mut self, text: &str) -> Self {
        text.clone_into(&mut self.description);
        self
    }
}
