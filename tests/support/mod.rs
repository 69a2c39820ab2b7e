//! What the integration tests share: a sealed place to run the binary in, its output, provider plugins.

pub(crate) mod damage;
mod output;
mod provider;
mod workspace;

pub(crate) use output::Output;
pub(crate) use provider::{fake_provider, real_provider, skip};
pub(crate) use workspace::{Workspace, overwrite};
