//! Which backend a stack's state is in: the declared one in the end, but what a run goes by before it has evaluated anything is
//! what the stack's folder says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs::{self, PRIVATE};
use crate::ir::Ir;
use crate::registry::Network;
use crate::state::{Backend, BackendConfig, Surroundings, connect, create_folder};

/// The file in the stack's folder that names the backend, if it is another than the folder itself.
const RECORD: &str = "backend.json";

/// Where a stack's state is.
pub struct Home {
    /// Folder of the stack on this machine.
    pub folder: PathBuf,
    /// What relative paths start from.
    pub working: PathBuf,
    /// Environment variables by name.
    pub environment: BTreeMap<String, String>,
    /// How to reach servers.
    pub network: Network,
    backups: u32,
    used: OnceLock<Used>,
}

/// A backend in use.
struct Used {
    config: BackendConfig,
    backend: Box<dyn Backend>,
}

impl Home {
    /// A home of which nothing is known yet.
    pub fn new(
        folder: PathBuf,
        working: PathBuf,
        environment: BTreeMap<String, String>,
        network: Network,
    ) -> Self {
        Self {
            folder,
            working,
            environment,
            network,
            backups: 1,
            used: OnceLock::new(),
        }
    }

    /// The same, where a local state keeps so many states from before the last runs.
    #[must_use]
    pub fn keeping(mut self, backups: u32) -> Self {
        self.backups = backups;
        self
    }

    /// The backend with these settings. Reaches for nothing yet.
    pub fn connect(&self, config: &BackendConfig) -> Result<Box<dyn Backend>, Diagnostics> {
        let surroundings = Surroundings {
            folder: &self.folder,
            working: &self.working,
            environment: &self.environment,
            network: &self.network,
            backups: self.backups,
        };
        Ok(connect(config, surroundings)?)
    }

    /// The backend that the last run here used; `None` if there was none.
    pub fn recorded(&self) -> Result<Option<BackendConfig>, Diagnostics> {
        let path = self.folder.join(RECORD);
        let cannot = |problem: String| {
            Diagnostic::error("Cannot tell where the state is")
                .detail(problem)
                .hint("remove the file: the stack says it too")
        };
        if let Some(bytes) = fs::read_optional(&path).map_err(|e| cannot(e.to_string()))? {
            let config = serde_json::from_slice(&bytes);
            return Ok(Some(
                config.map_err(|e| cannot(format!("{}: {e}", path.display())))?,
            ));
        }
        let here = ["state.json", "journal.jsonl"].map(|name| self.folder.join(name));
        Ok(here.iter().any(|f| f.exists()).then(BackendConfig::default))
    }

    /// Has later runs here begin with the backend with these settings.
    pub fn record(&self, config: &BackendConfig) -> Result<(), Diagnostics> {
        let path = self.folder.join(RECORD);
        let write = || {
            if *config == BackendConfig::default() {
                return fs::remove(&path);
            }
            let text = serde_json::to_vec(config).unwrap_or_default();
            if fs::read_optional(&path)?.as_ref() == Some(&text) {
                return Ok(());
            }
            create_folder(&self.folder)?;
            fs::atomic_write(&path, &text, PRIVATE)
        };
        write().map_err(|error| {
            Diagnostic::error("Cannot note where the state is")
                .detail(error.to_string())
                .into()
        })
    }

    /// The backend in use; what was recorded decides, else `declared` has to say.
    pub(super) fn backend(
        &self,
        declared: impl FnOnce() -> Result<BackendConfig, Diagnostics>,
    ) -> Result<&dyn Backend, Diagnostics> {
        if let Some(used) = self.used.get() {
            return Ok(&*used.backend);
        }
        let config = match self.recorded()? {
            Some(config) => config,
            None => declared()?,
        };
        let backend = self.connect(&config)?;
        Ok(&*self.used.get_or_init(|| Used { config, backend }).backend)
    }

    /// Notes the backend in use for later runs here.
    pub(super) fn record_used(&self) -> Result<(), Diagnostics> {
        match self.used.get() {
            Some(used) => self.record(&used.config),
            None => Ok(()),
        }
    }

    /// Whether the stack declares a backend that can be, and the one that is in use, if one is.
    pub(super) fn check(&self, ir: &Ir) -> Result<(), Diagnostics> {
        let declared = self.connect(&declared(ir))?;
        let Some(used) = self.used.get() else {
            return Ok(());
        };
        let (here, there) = (used.backend.place(), declared.place());
        if here == there {
            return Ok(());
        }
        Err(Diagnostic::error("State is somewhere else")
            .detail(format!(
                "the state of this stack is {here}; `backend` says that it is {there}"
            ))
            .hint("leave `backend` as it was while the state is there")
            .into())
    }
}

/// The backend that a stack declares.
pub fn declared(ir: &Ir) -> BackendConfig {
    ir.backend
        .as_ref()
        .map(BackendConfig::from)
        .unwrap_or_default()
}
