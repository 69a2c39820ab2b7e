//! What Nix hands us: the IR document, its parsing and checks (docs/IR-CONTRACT.md).

mod error;
mod json;
mod ir;
mod expr;
mod reader;
mod leaf;
mod meta;
mod ty;
mod dependencies;
mod check;
mod parse;
mod part;
mod write;

pub use dependencies::{Dependencies, provider_node};
pub use error::{IrError, IrErrors};
pub use ir::{
    Backend, Build, Check, Condition, Consumer, DataSource, Deferred, DerivationOutput, Derived,
    Edge, Expr, Hidden, IgnoreChanges, Import, Index, Ir, Lifecycle, Meta, Mode, Moved,
    ProviderDecl, Ref, Removed, Resource, VARIABLES, Variable,
};
pub use parse::{SCHEMA_VERSION, parse, read_back};
pub use part::parse_part;
pub use write::write;
