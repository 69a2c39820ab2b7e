//! Opening a stack: its state, its evaluation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::eval::ledger::{Ledger, LedgerFile};
use crate::fs::PrivateDir;
use crate::ir::{self, Ir};
use crate::nix::{self, EvalInput, Nix, Target};
use crate::ops::builds::needed_to_plan;
use crate::ops::unsupported;
use crate::state::{Backend, Local, LockInfo, Session, State};

/// A stack and how to work with it.
pub struct Stack {
    /// What to evaluate.
    pub target: Target,
    /// Which Nix evaluates it.
    pub nix: Nix,
    /// Where its state is.
    pub backend: Local,
    /// Where private files of the run may go, best first.
    pub run_folders: Vec<PathBuf>,
    /// A private folder that the target may need.
    pub scratch: PrivateDir,
    /// Takes the author's warnings and traces, line by line.
    pub messages: fn(&str),
}

/// How much an evaluation may write to the Nix store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Nothing but the flake's own source, unless planning needs a build.
    Read,
    /// Derivations and sources too, so that they can be built.
    Write,
}

impl Stack {
    /// Evaluates with a ledger; gives the document as JSON.
    pub fn evaluate_json(
        &self,
        ledger: &Ledger,
        phase: u64,
        store: Store,
    ) -> Result<Vec<u8>, Diagnostics> {
        let file =
            if ledger.is_empty() {
                None
            } else {
                let file = LedgerFile::write(ledger, phase, &self.run_folders);
                Some(file.map_err(|e| {
                    Diagnostic::error("Cannot write the ledger").detail(e.to_string())
                })?)
            };
        let input = EvalInput {
            nix: &self.nix,
            target: &self.target,
            ledger: file.as_ref().map(LedgerFile::path),
            instantiate: store == Store::Write,
        };
        Ok(nix::evaluate(&input, &mut |line| (self.messages)(line))?)
    }

    /// Evaluates with a ledger.
    pub fn evaluate(&self, ledger: &Ledger, phase: u64, store: Store) -> Result<Ir, Diagnostics> {
        let ir = self.evaluate_once(ledger, phase, store)?;
        let missing = |drv: &String| !Path::new(drv).exists();
        if store == Store::Read
            && needed_to_plan(&ir)
                .iter()
                .filter_map(|b| b.drv.as_ref())
                .any(missing)
        {
            return self.evaluate_once(ledger, phase, Store::Write);
        }
        Ok(ir)
    }

    fn evaluate_once(&self, ledger: &Ledger, phase: u64, store: Store) -> Result<Ir, Diagnostics> {
        let ir = ir::parse(&self.evaluate_json(ledger, phase, store)?)?;
        unsupported::check(&ir)?;
        Ok(ir)
    }

    /// The phases of a run, begun with what the last run left for it.
    pub fn phases(
        &self,
        state: &State,
        store: Store,
    ) -> Result<Phases<'_, Diagnostics>, Diagnostics> {
        let seed = Ledger::from_inputs(&state.derive_inputs);
        Phases::start(
            Box::new(move |ledger, phase| self.evaluate(ledger, phase, store)),
            seed,
        )
    }

    /// The state, to look at.
    pub fn read_state(&self) -> Result<State, Diagnostics> {
        Ok(Session::read(&self.backend)?)
    }

    /// The state, locked, to change it.
    pub fn open(
        &self,
        operation: &str,
        who: &str,
        timeout: Duration,
    ) -> Result<Session, Diagnostics> {
        let info = LockInfo::new(operation, who, &self.backend.place());
        Ok(Session::open(&self.backend, &info, timeout)?)
    }

    /// Breaks the lock with this id.
    pub fn unlock(&self, id: &str) -> Result<(), Diagnostics> {
        Ok(self.backend.unlock(id)?)
    }
}
