//! Nix builds that configurations need: realised before a provider sees their paths, kept for the run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs::{self, PrivateDir};
use crate::ir::{Build, DataSource, Ir, Resource};
use crate::nix::{self, Nix, RealiseInput};
use crate::plan::{Action, Plan};

/// Realises builds, each once per run; its garbage-collector roots live as long as it does.
pub struct Builder {
    nix: Nix,
    roots: PrivateDir,
    done: Mutex<Done>,
    messages: Box<dyn Fn(&str) + Send + Sync>,
}

#[derive(Default)]
struct Done {
    calls: usize,
    builds: BTreeSet<Build>,
}

impl Builder {
    /// Keeps its roots in the first of `run_folders` that can have them; log lines of builds go to `messages`.
    pub fn new(
        nix: Nix,
        run_folders: &[PathBuf],
        messages: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Self, Diagnostics> {
        let roots = PrivateDir::new(run_folders)
            .map_err(|e| Diagnostic::error("Cannot keep build results").detail(e.to_string()))?;
        Ok(Self {
            nix,
            roots,
            done: Mutex::default(),
            messages,
        })
    }

    /// Makes the paths of `builds` exist. Those that were made before cost nothing.
    pub fn realise(&self, builds: &[Build]) -> Result<(), Diagnostics> {
        self.call(builds, false)
    }

    /// Makes what the changes of a plan need, as far as it is known, all in one call of Nix. `announce` is told how many paths do
    /// not exist yet, if any. A build that fails is reported to whoever needs it, by [`realise`](Self::realise); what the user does
    /// not want built is an error here.
    pub fn realise_changes(
        &self,
        plan: &Plan,
        announce: &dyn Fn(usize),
    ) -> Result<(), Diagnostics> {
        let builds: Vec<Build> = made_by(plan).flat_map(Resource::builds).collect();
        let missing: BTreeSet<_> = builds.iter().filter(|b| !nix::is_made(b)).collect();
        if !missing.is_empty() {
            announce(missing.len());
        }
        match self.call(&builds, true) {
            Err(problem) if self.nix.options().no_build => Err(problem),
            _ => Ok(()),
        }
    }

    fn call(&self, builds: &[Build], keep_going: bool) -> Result<(), Diagnostics> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&Build> = builds.iter().filter(|b| !done.builds.contains(b)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        done.calls += 1;
        let roots = self.roots.path().join(done.calls.to_string());
        fs::create_private_dir(&roots)
            .map_err(|e| Diagnostic::error("Cannot keep build results").detail(e.to_string()))?;
        let input = RealiseInput {
            nix: &self.nix,
            builds: &missing,
            roots: &roots,
            keep_going,
        };
        nix::realise(&input, &mut |line| (self.messages)(line))?;
        let made: Vec<Build> = missing.into_iter().cloned().collect();
        done.builds.extend(made);
        Ok(())
    }
}

/// The resources of a plan that are created, updated or replaced.
pub fn made_by(plan: &Plan) -> impl Iterator<Item = &Resource> {
    let makes = |id: &Id| {
        let change = plan.changes.get(id).filter(|_| !plan.refresh_only);
        change.is_some_and(|c| !matches!(c.action, Action::NoOp | Action::Delete | Action::Forget))
    };
    plan.ir.resources.iter().filter(move |r| makes(&r.id))
}

/// The builds that planning itself needs: provider programs and what data sources and providers are configured with.
pub fn needed_to_plan(ir: &Ir) -> Vec<Build> {
    let providers = ir
        .providers
        .values()
        .flat_map(|p| p.source.builds().chain(p.config.builds()).cloned());
    let data = ir.data_sources.iter().flat_map(DataSource::builds);
    providers.chain(data).collect()
}
