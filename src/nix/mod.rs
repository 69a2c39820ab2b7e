//! The Nix command line: evaluate, realise, read its log.

mod cache;
mod cli;
mod eval;
mod explain;
mod log;
mod problem;
mod realise;
mod target;

pub use cache::EvalCache;
pub use cli::{Nix, NixError, NixOptions};
pub use eval::{EvalError, EvalInput, evaluate};
pub use realise::{RealiseError, RealiseInput, is_made, realise};
pub use target::{Source, Target, TargetError};
