//! nivis: a Nix-native infrastructure tool.
//!
//! A Nix expression declares resources; evaluating it gives a JSON document, the IR. nivis drives unmodified
//! Terraform/OpenTofu provider plugins to make the world match it, keeps state, and evaluates the expression again with
//! the outputs it learned, phase by phase, until nothing new resolves.
//!
//! The modules below are the floors of the program, lowest first: a module uses only modules above it in this list
//! (`tests/layering.rs` holds that). `docs/architecture.md` walks through them.

// ground
pub mod process;
pub mod fs;
pub mod graph;
// words
pub mod value;
pub mod addr;
pub mod diagnostic;
// formats
pub mod schema;
pub mod ir;
// ports
pub mod nix;
pub mod registry;
pub mod provider;
pub mod builtin;
pub mod state;
// engine
pub mod eval;
pub mod plan;
pub mod apply;
// views
pub mod json;
pub mod render;
// uses
pub mod ops;
// skin
pub mod cli;
