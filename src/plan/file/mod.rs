//! Saved plans: a border type, written by `plan -o` and read by `apply` and `show` (docs/reference/plan-file.md).

mod file;
mod form;
mod parts;
mod seal;

pub use file::{Made, Origin, PlanFile, PlanFileError, ProviderPin, VERSION, decode, encode};
pub use seal::{SealError, is_plan, seal, unseal};
