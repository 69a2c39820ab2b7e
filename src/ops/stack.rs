//! Opening a stack: its state, its evaluation.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::eval::ledger::{Ledger, LedgerFile, Question};
use crate::eval::vars::Vars;
use crate::fs::PrivateDir;
use crate::ir::{self, Hidden, Ir};
use crate::nix::{self, EvalCache, EvalInput, Nix, Target};
use crate::ops::backend::{Home, declared};
use crate::ops::builds::needed_to_plan;
use crate::ops::providers;
use crate::plan::resolve::{OutputMap, resolve};
use crate::registry::Installer;
use crate::state::{Backend, LockInfo, Session, State};

/// A stack and how to work with it.
pub struct Stack {
    /// What to evaluate.
    pub target: Target,
    /// Which Nix evaluates it.
    pub nix: Nix,
    /// Values of its variables.
    pub vars: Vars,
    /// Where its state is.
    pub home: Home,
    /// Where private files of the run may go, best first.
    pub run_folders: Vec<PathBuf>,
    /// A private folder that the target may need.
    pub scratch: PrivateDir,
    /// Installs providers whose source is an address in a registry.
    pub installer: Arc<Installer>,
    /// Where evaluations are kept, if they are.
    pub eval_cache: Option<EvalCache>,
    /// Takes the author's warnings and traces, line by line.
    pub messages: fn(&str),
    /// The answer to the first question of a run, if it was put already to find the backend.
    pub first: FirstAnswer,
}

/// An answer that is kept until it is asked for again.
#[derive(Debug, Default)]
pub struct FirstAnswer(Mutex<Option<(Store, Vec<u8>)>>);

impl FirstAnswer {
    fn lock(&self) -> MutexGuard<'_, Option<(Store, Vec<u8>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    /// Evaluates; gives the document as JSON.
    pub fn evaluate_json(
        &self,
        question: Question<'_>,
        store: Store,
    ) -> Result<Vec<u8>, Diagnostics> {
        let says_nothing = question.ledger.is_empty()
            && self.vars.is_empty()
            && question.part.is_none()
            && !question.compare;
        let file =
            if says_nothing {
                None
            } else {
                let file = LedgerFile::write(question, &self.vars, &self.run_folders);
                Some(file.map_err(|e| {
                    Diagnostic::error("Cannot write the ledger").detail(e.to_string())
                })?)
            };
        let secrets = file.as_ref().and_then(LedgerFile::secrets);
        let input = EvalInput {
            nix: &self.nix,
            target: &self.target,
            ledger: file.as_ref().map(LedgerFile::path),
            secrets,
            // What is made from a secret must not get into the store.
            instantiate: store == Store::Write && secrets.is_none(),
            restricted: false,
        };
        let told = &mut |line: &str| (self.messages)(line);
        // What is written to the store has to be there, and not only in the document.
        let is_simple = store == Store::Read && question.part.is_none() && !question.compare;
        Ok(match &self.eval_cache {
            Some(cache) if is_simple => {
                cache.evaluate(&input, &question.to_json(&self.vars), told)?
            }
            _ => nix::evaluate(&input, told)?,
        })
    }

    /// Evaluates.
    pub fn evaluate(&self, question: Question<'_>, store: Store) -> Result<Ir, Diagnostics> {
        let ir = self.evaluate_once(question, store)?;
        let missing = |drv: &String| !Path::new(drv).exists();
        if store == Store::Read
            && needed_to_plan(&ir)
                .iter()
                .filter_map(|b| b.drv.as_ref())
                .any(missing)
        {
            return self.evaluate_once(question, Store::Write);
        }
        Ok(ir)
    }

    fn evaluate_once(&self, question: Question<'_>, store: Store) -> Result<Ir, Diagnostics> {
        let json = match self.known_answer(question, store) {
            Some(json) => json,
            None => self.evaluate_json(question, store)?,
        };
        let mut ir = match question.part {
            None => ir::parse(&json)?,
            Some(part) => ir::parse_part(&json, part.base, part.owners, part.secrets.is_some())?,
        };
        if question.part.is_none() {
            self.home.check(&ir)?;
        }
        self.want(&ir)?;
        fill_secrets(&mut ir, &self.vars);
        Ok(ir)
    }

    /// Tells the installer which providers, of which versions, the stack may need.
    pub fn want(&self, ir: &Ir) -> Result<(), Diagnostics> {
        self.installer
            .want(providers::wants(ir, self.installer.default_host())?);
        Ok(())
    }

    /// The phases of a run, begun with what the last run left for it.
    pub fn phases(
        &self,
        state: &State,
        store: Store,
    ) -> Result<Phases<'_, Diagnostics>, Diagnostics> {
        let seed = Ledger::from_inputs(&state.derive_inputs);
        Phases::start(
            Box::new(move |question| self.evaluate(question, store)),
            seed,
        )
    }

    /// The backend that has the state. If nothing on this machine tells, the stack has to: a run that evaluates it next, with
    /// the same `store`, does not evaluate it again.
    pub fn backend(&self, store: Store) -> Result<&dyn Backend, Diagnostics> {
        self.home.backend(|| {
            let json = self.evaluate_json(Question::whole(&Ledger::default(), 1), store)?;
            let declared = declared(&ir::parse(&json)?);
            *self.first.lock() = Some((store, json));
            Ok(declared)
        })
    }

    /// The answer to this question, if it is the one that [`backend`](Self::backend) asked. It is given once.
    fn known_answer(&self, question: Question<'_>, store: Store) -> Option<Vec<u8>> {
        let first = question.part.is_none() && !question.compare && question.phase == 1;
        if !first || !question.ledger.is_empty() {
            return None;
        }
        let (_, json) = self.first.lock().take_if(|(asked, _)| *asked == store)?;
        Some(json)
    }

    /// The state, to look at.
    pub fn read_state(&self) -> Result<State, Diagnostics> {
        Ok(Session::read(self.backend(Store::Read)?)?)
    }

    /// The state, locked, to change it.
    pub fn open(
        &self,
        operation: &str,
        who: &str,
        timeout: Duration,
    ) -> Result<Session, Diagnostics> {
        let backend = self.backend(Store::Read)?;
        let info = LockInfo::new(operation, who, &backend.place());
        let session = Session::open(backend, &info, timeout)?;
        self.home.record_used()?;
        Ok(session)
    }

    /// Breaks the lock with this id.
    pub fn unlock(&self, id: &str) -> Result<(), Diagnostics> {
        Ok(self.backend(Store::Read)?.unlock(id)?)
    }
}

/// Puts the values of sensitive variables in, which no document has.
pub(super) fn fill_secrets(ir: &mut Ir, vars: &Vars) {
    for (name, variable) in ir.variables.iter_mut().filter(|(_, v)| v.sensitive) {
        let given = vars.value(name, variable);
        let default = || {
            Some(
                resolve(variable.default.as_ref()?, &OutputMap::new())
                    .ok()?
                    .value,
            )
        };
        variable.secret = given.or_else(default).map(Hidden);
    }
}
