//! Text for people, drawn from `json`.

mod block;
mod diff;
mod graph;
mod pair;
mod plan;
mod print;
mod scalar;
mod sequence;
mod state;
mod style;
mod text;

pub use graph::{dot, mermaid};
pub use plan::plan;
pub use state::state;
pub use style::{Label, Style};
