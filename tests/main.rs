//! The one integration test binary.

// `cfg(test)` tells clippy that these are tests; there is no other build of this file.
#[cfg(test)]
mod backends;
#[cfg(test)]
mod builds;
#[cfg(test)]
mod conditions;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod eval_cache;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod ir_conformance;
#[cfg(test)]
mod ir_random;
#[cfg(test)]
mod layering;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod lifecycle_rules;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod orphans;
#[cfg(test)]
mod phases;
#[cfg(test)]
mod places;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod provider_host;
#[cfg(test)]
mod provider_meta;
#[cfg(test)]
mod provider_promises;
#[cfg(test)]
mod random_graphs;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod real_providers;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod run_modes;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod state_commands;
#[cfg(test)]
mod state_format;
#[cfg(test)]
mod structure;
#[cfg(test)]
mod support;
#[cfg(test)]
mod takeover;
#[cfg(test)]
mod terraform_peer;
#[cfg(test)]
mod tfstate;
#[cfg(test)]
mod transient;
#[cfg(test)]
mod values;
#[cfg(test)]
mod variables;
