//! What Nix hands us: the IR document, its schema, parsing and checks (docs/IR-CONTRACT.md).

mod ir;

pub use ir::{
    Build, Consumer, DataSource, Derived, Edge, Expr, IgnoreChanges, Index, Ir, Lifecycle, Meta,
    ProviderDecl, Ref, Resource,
};
