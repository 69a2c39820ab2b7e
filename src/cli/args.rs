//! Flags that several commands share.

use std::path::PathBuf;

use clap::Args;

use crate::addr::Id;
use crate::plan::stack::PlanOptions;

/// Which stack, and how to evaluate it.
#[derive(Clone, Debug, Args)]
pub(super) struct StackArgs {
    /// Flake and stack: `.#prod` is the output `nivis.prod` of the flake here.
    #[arg(default_value = ".", value_name = "INSTALLABLE")]
    pub(super) installable: String,

    /// Evaluate this Nix file instead of a flake; its value is a plan.
    #[arg(long, short, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,

    /// The plan at this attribute path of the file's value.
    #[arg(long, value_name = "PATH", requires = "file")]
    pub(super) attr: Option<String>,

    /// Show Nix's evaluation trace in errors.
    #[arg(long)]
    pub(super) show_trace: bool,

    /// Set a Nix option for every evaluation and build, as Nix's own `--option` does.
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = clap::ArgAction::Append)]
    pub(super) option: Vec<String>,

    /// Replace an input of the flake for this run, as Nix's own `--override-input` does.
    #[arg(long, num_args = 2, value_names = ["INPUT", "FLAKE"], action = clap::ArgAction::Append)]
    pub(super) override_input: Vec<String>,
}

/// How to plan.
#[derive(Clone, Debug, Args)]
pub(super) struct PlanArgs {
    /// How many provider operations may run at once.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) parallelism: u16,

    /// Plan with the stored objects as they are, without reading them from the world first.
    #[arg(long = "no-refresh")]
    pub(super) no_refresh: bool,

    /// Replace this resource even if nothing changed; may be given more than once.
    #[arg(long, value_name = "ID")]
    pub(super) replace: Vec<String>,
}

/// How to lock.
#[derive(Clone, Debug, Args)]
pub(super) struct LockArgs {
    /// Wait this many seconds for another run to finish with the state.
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    pub(super) lock_timeout: u64,
}

impl PlanArgs {
    /// As planning takes them.
    pub(super) fn options(&self, destroy: bool) -> PlanOptions {
        PlanOptions {
            destroy,
            refresh: !self.no_refresh,
            replace: self
                .replace
                .iter()
                .map(|id| Id::from(id.as_str()))
                .collect(),
            parallelism: self.parallelism.into(),
        }
    }
}

/// How to destroy.
#[derive(Clone, Debug, Args)]
pub(super) struct DestroyArgs {
    /// How many provider operations may run at once.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    parallelism: u16,

    /// Take the stored objects as they are, without reading them from the world first.
    #[arg(long = "no-refresh")]
    no_refresh: bool,
}

impl DestroyArgs {
    /// As planning takes them.
    pub(super) fn options(&self) -> PlanOptions {
        let parallelism = self.parallelism.into();
        PlanOptions {
            destroy: true,
            refresh: !self.no_refresh,
            parallelism,
            ..PlanOptions::default()
        }
    }
}
