//! Values against what OpenTofu and Terraform exchange with providers.

mod arbitrary;
mod coerce;
pub(crate) mod compare;
mod conversions;
mod fuzz;
mod notation;
mod oracle;
mod wire;
