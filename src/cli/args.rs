//! Flags that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::file::Origin;
use crate::plan::stack::PlanOptions;
use crate::plan::target::Limit;

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

    /// Give a variable of the stack its value; best not a secret, which others can see in the list of processes.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) var: Vec<String>,

    /// Give variables their values: a JSON object in a file.
    #[arg(long, value_name = "FILE")]
    pub(super) var_file: Vec<PathBuf>,

    /// Whether providers may be added to the lock file; with `readonly`, one that is not locked is an error.
    #[arg(long, value_name = "MODE", default_value = "update")]
    pub(super) lockfile: LockFileMode,

    /// Show Nix's evaluation trace in errors.
    #[arg(long)]
    pub(super) show_trace: bool,

    /// Set a Nix option for every evaluation and build, as Nix's own `--option` does.
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = clap::ArgAction::Append)]
    pub(super) option: Vec<String>,

    /// Replace an input of the flake for this run, as Nix's own `--override-input` does.
    #[arg(long, num_args = 2, value_names = ["INPUT", "FLAKE"], action = clap::ArgAction::Append)]
    pub(super) override_input: Vec<String>,

    /// Build nothing: `plan` still lists what has to be built, and where a build would be needed it is an error that names it.
    #[arg(long)]
    pub(super) no_build: bool,

    /// Keep the evaluation of a locked flake without uncommitted changes, and use it while nothing changes (also by
    /// `NIVIS_EVAL_CACHE=1`). It sees no environment variables then, and must not look at the clock.
    #[arg(long)]
    pub(super) eval_cache: bool,
}

/// What may become of the lock file of providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LockFileMode {
    /// It is extended by what it lacks.
    Update,
    /// It stays as it is.
    Readonly,
}

/// How to plan.
#[derive(Clone, Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    walk: WalkArgs,
    #[command(flatten)]
    read: ReadArgs,

    /// Replace this resource even if nothing changed; may be given more than once.
    #[arg(long, value_name = "ID")]
    replace: Vec<String>,

    /// Only bring the state up to what is found in the world; change nothing there.
    #[arg(long, conflicts_with_all = ["refresh", "no_refresh", "replace"])]
    refresh_only: bool,
}

/// What to work on, and how much of it at once.
#[derive(Clone, Debug, Args)]
pub(super) struct WalkArgs {
    /// How many provider operations may run at once.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    parallelism: u16,

    /// Work only on this resource or data source and what it depends on; the id of a repeated resource means all its
    /// instances; may be given more than once. What is destroyed brings along what depends on it.
    #[arg(long, value_name = "ID", conflicts_with = "exclude")]
    target: Vec<String>,

    /// Leave out this resource or data source and what depends on it; may be given more than once.
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
}

/// Whether to read stored objects.
#[derive(Clone, Debug, Args)]
pub(super) struct ReadArgs {
    /// Whether to read the stored objects from the world first; `--refresh=false` takes them as they are.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_value = "true", default_missing_value = "true", action = clap::ArgAction::Set)]
    refresh: bool,

    /// The same as `--refresh=false`.
    #[arg(long, conflicts_with = "refresh")]
    no_refresh: bool,
}

/// How to destroy.
#[derive(Clone, Debug, Args)]
pub(super) struct DestroyArgs {
    #[command(flatten)]
    walk: WalkArgs,
    #[command(flatten)]
    read: ReadArgs,
}

/// How to refresh.
#[derive(Clone, Debug, Args)]
pub(super) struct RefreshArgs {
    #[command(flatten)]
    walk: WalkArgs,
}

/// How to lock.
#[derive(Clone, Debug, Args)]
pub(super) struct LockArgs {
    /// Wait this many seconds for another run to finish with the state.
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    pub(super) lock_timeout: u64,
}

impl StackArgs {
    /// The stack that a saved plan is of; what belongs to the run is as given now.
    pub(super) fn of_plan(&self, origin: &Origin) -> Self {
        Self {
            installable: origin.installable.clone(),
            file: origin.file.as_ref().map(PathBuf::from),
            attr: origin.attr.clone(),
            option: origin.settings.clone(),
            override_input: origin.override_inputs.clone(),
            ..self.clone()
        }
    }

    /// What a saved plan keeps of it.
    pub(super) fn origin(&self) -> Origin {
        let file = self.file.as_ref();
        Origin {
            installable: self.installable.clone(),
            file: file.map(|file| file.to_string_lossy().into_owned()),
            attr: self.attr.clone(),
            settings: self.option.clone(),
            override_inputs: self.override_input.clone(),
        }
    }

    /// The saved plan that stands where an installable could: an existing file, which no flake is.
    pub(super) fn plan_file(&self) -> Option<PathBuf> {
        let path = PathBuf::from(&self.installable);
        (self.file.is_none() && path.is_file()).then_some(path)
    }

    /// Flags that say nothing about a saved plan, which has them in it.
    fn flags(&self) -> [(&'static str, bool); 5] {
        [
            ("--attr", self.attr.is_some()),
            ("--var", !self.var.is_empty()),
            ("--var-file", !self.var_file.is_empty()),
            ("--option", !self.option.is_empty()),
            ("--override-input", !self.override_input.is_empty()),
        ]
    }

    /// An error if a flag is given that a saved plan has in it already.
    pub(super) fn fits_saved_plan(&self) -> Result<(), Diagnostics> {
        fit(&self.flags())
    }

    /// The stack of this name, for commands that do not evaluate it.
    pub(super) fn named(installable: String, file: Option<PathBuf>, attr: Option<String>) -> Self {
        Self {
            installable,
            file,
            attr,
            var: Vec::new(),
            var_file: Vec::new(),
            lockfile: LockFileMode::Update,
            show_trace: false,
            option: Vec::new(),
            override_input: Vec::new(),
            no_build: false,
            eval_cache: false,
        }
    }
}

/// An error for the first flag that is given.
fn fit(flags: &[(&'static str, bool)]) -> Result<(), Diagnostics> {
    match flags.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Diagnostic::error(format!("Invalid flag {name}"))
            .detail("a saved plan is carried out and shown as it was made")
            .hint(format!("give `{name}` to `nivis plan -o FILE`"))
            .into()),
    }
}

impl WalkArgs {
    fn options(&self) -> PlanOptions {
        PlanOptions {
            parallelism: self.parallelism.into(),
            limit: if !self.target.is_empty() {
                Limit::Only(self.target.clone())
            } else if !self.exclude.is_empty() {
                Limit::Without(self.exclude.clone())
            } else {
                Limit::Nothing
            },
            ..PlanOptions::default()
        }
    }
}

impl PlanArgs {
    /// An error if a flag is given that a saved plan has in it already; how much is done at once is no part of a plan.
    pub(super) fn fits_saved_plan(&self) -> Result<(), Diagnostics> {
        fit(&[
            ("--target", !self.walk.target.is_empty()),
            ("--exclude", !self.walk.exclude.is_empty()),
            ("--refresh", !self.read.refresh),
            ("--no-refresh", self.read.no_refresh),
            ("--replace", !self.replace.is_empty()),
            ("--refresh-only", self.refresh_only),
        ])
    }

    /// How many provider operations may run at once.
    pub(super) fn parallelism(&self) -> usize {
        self.walk.parallelism.into()
    }

    /// As planning takes them.
    pub(super) fn options(&self, destroy: bool) -> PlanOptions {
        let replace = self.replace.iter().map(|id| Id::from(id.as_str()));
        PlanOptions {
            destroy,
            refresh: self.read.refresh && !self.read.no_refresh,
            refresh_only: self.refresh_only,
            replace: replace.collect(),
            ..self.walk.options()
        }
    }
}

impl DestroyArgs {
    /// As planning takes them.
    pub(super) fn options(&self) -> PlanOptions {
        PlanOptions {
            destroy: true,
            refresh: self.read.refresh && !self.read.no_refresh,
            ..self.walk.options()
        }
    }
}

impl RefreshArgs {
    /// As planning takes them.
    pub(super) fn options(&self) -> PlanOptions {
        PlanOptions {
            refresh_only: true,
            ..self.walk.options()
        }
    }
}
