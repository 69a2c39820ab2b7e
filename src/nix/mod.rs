//! The Nix command line: evaluate, realise, read its log.

mod cli;
mod eval;
mod explain;
mod log;
mod problem;
mod realise;
mod target;

pub use cli::{Nix, NixError, NixOptions};
pub use eval::{EvalError, EvalInput, evaluate};
pub use realise::{RealiseError, RealiseInput, realise};
pub use target::{Source, Target, TargetError};
