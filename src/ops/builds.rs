//! Nix builds that configurations need: realised before a provider sees their paths, kept for the run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs::{self, PrivateDir};
use crate::ir::{Build, DataSource, Ir};
use crate::nix::{self, Nix, RealiseInput};

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
        };
        nix::realise(&input, &mut |line| (self.messages)(line))?;
        let made: Vec<Build> = missing.into_iter().cloned().collect();
        done.builds.extend(made);
        Ok(())
    }
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
