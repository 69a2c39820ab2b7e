//! Terraform-compatible JSON of plans, states and values.
