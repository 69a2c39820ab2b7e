//! Values against what OpenTofu and Terraform exchange with providers.

mod arbitrary;
mod compare;
mod fuzz;
mod notation;
mod oracle;
mod wire;
