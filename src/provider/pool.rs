//! Provider processes of one run: each started once, shared, ended together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::address::{ProviderAddress, provider_address};
use super::cache::SchemaCache;
use super::client::Plugin;
use super::handshake;
use super::launch::Launch;
use super::open::Open;
use super::provider::Provider;
use super::reattach::Reattach;
use super::rpc::CallCounts;
use super::source::{Places, SourceError, install, resolve};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs;
use crate::registry::{Address, Installer};
use crate::schema::ProviderSchema;
use crate::value::Value;

/// The provider processes of one run.
///
/// A process is configured at most once. The process that told a provider's schema is the first to be configured;
/// another configuration of the same provider gets its own process. As the configuration is part of what a process is
/// known by, one that was configured with unknown values is not found again once they are known.
pub struct Pool {
    places: Places,
    installer: Option<Arc<Installer>>,
    running: Reattach,
    env: Vec<(OsString, OsString)>,
    cache: Option<SchemaCache>,
    counts: Arc<CallCounts>,
    sources: Mutex<HashMap<Launch, Arc<Source>>>,
    configured: Mutex<HashMap<Key, Arc<OnceCell<Configured>>>>,
    live: Mutex<Vec<Arc<Plugin>>>,
    /// Ephemeral resources to close.
    pub(super) open: Mutex<Vec<Open>>,
}

/// One provider program.
#[derive(Default)]
struct Source {
    /// The process that told the schema.
    first: OnceCell<Result<Arc<Plugin>, Diagnostics>>,
    /// Whether that process has been configured.
    taken: AtomicBool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    id: String,
    launch: Launch,
    config: Value,
}

/// A configured process and the warnings nobody has seen yet, or why there is none.
type Configured = Result<(Arc<Plugin>, Mutex<Diagnostics>), Diagnostics>;

impl Pool {
    /// A pool without processes. Every process gets the variables `env` beside the inherited ones.
    pub fn new(places: Places, env: Vec<(OsString, OsString)>) -> Self {
        Self {
            places,
            installer: None,
            running: Reattach::default(),
            env,
            cache: None,
            counts: Arc::default(),
            sources: Mutex::default(),
            configured: Mutex::default(),
            live: Mutex::default(),
            open: Mutex::default(),
        }
    }

    /// The same, with schemas kept in a folder for later runs. It need not exist; its files may be removed at any time.
    #[must_use]
    pub fn caching_schemas(mut self, folder: PathBuf) -> Self {
        self.cache = Some(SchemaCache::new(folder));
        self
    }

    /// The same, with providers that run already and are used as they are.
    #[must_use]
    pub fn attaching(mut self, running: Reattach) -> Self {
        self.running = running;
        self
    }

    /// The same, with what installs providers whose source is an address in a registry.
    #[must_use]
    pub fn installing(mut self, installer: Arc<Installer>) -> Self {
        self.installer = Some(installer);
        self
    }

    /// The schema of the provider `id`, read once per program, from a process that is not configured.
    pub async fn schema(&self, id: &str, source: &str) -> Result<Arc<ProviderSchema>, Diagnostics> {
        let (_, _, plugin) = self.first(id, source).await?;
        Ok(plugin.schema().clone())
    }

    /// A process of the provider `id` to validate with; no configuration is needed for that.
    pub async fn unconfigured(
        &self,
        id: &str,
        source: &str,
    ) -> Result<Arc<dyn Provider>, Diagnostics> {
        let (_, _, plugin) = self.first(id, source).await?;
        Ok(plugin)
    }

    /// The provider `id` with this configuration: started, its configuration validated, configured. All of that happens
    /// once per id and configuration, whoever asks first, and fails once. The warnings go to the first who asks.
    pub async fn configured(
        &self,
        id: &str,
        source: &str,
        config: &Value,
    ) -> Result<(Arc<dyn Provider>, Diagnostics), Diagnostics> {
        let (launch, source, first) = self.first(id, source).await?;
        let key = Key {
            id: id.to_owned(),
            launch,
            config: config.clone(),
        };
        let cell = shared(lock(&self.configured).entry(key.clone()));
        let configured = cell
            .get_or_init(|| async {
                let plugin = self.unused(id, &key.launch, &source, first).await?;
                let mut warnings = plugin.validate_config(config).await?;
                warnings.extend(plugin.configure(config).await?);
                Ok((plugin, Mutex::new(warnings)))
            })
            .await;
        match configured {
            Ok((plugin, warnings)) => {
                let warnings = std::mem::take(&mut *lock(warnings));
                Ok((plugin.clone(), warnings))
            }
            Err(diagnostics) => Err(diagnostics.clone()),
        }
    }

    /// The registry address of the provider `id`, as far as its source or the place of its program tells: what another
    /// provider is told that takes over its objects.
    pub fn address(&self, id: &str, source: &str) -> Option<ProviderAddress> {
        let launch = resolve(id, source, &self.places).ok();
        provider_address(source, launch.as_ref().map(|l| &*l.program))
    }

    /// What tells the program of the provider `id` from others, wherever it is installed; none if it is one that runs
    /// already.
    pub async fn program_digest(
        &self,
        id: &str,
        source: &str,
    ) -> Result<Option<String>, Diagnostics> {
        let launch = self.launch(id, source).await?;
        if launch.running.is_some() {
            return Ok(None);
        }
        if source == "builtin" {
            return Ok(Some(format!("nivis {}", env!("CARGO_PKG_VERSION"))));
        }
        let digest = spawn_blocking(move || fs::sha256(&launch.program)).await;
        let problem = |e: String| Diagnostic::error("Cannot read provider").detail(e);
        let digest = digest.map_err(|e| problem(e.to_string()))?;
        Ok(Some(digest.map_err(|e| problem(e.to_string()))?))
    }

    /// How often each call was made so far.
    pub fn calls(&self) -> Arc<CallCounts> {
        self.counts.clone()
    }

    /// Asks all running operations to end soon.
    pub async fn stop_all(&self) {
        let live = lock(&self.live).clone();
        join_all(live.iter().map(|plugin| plugin.stop())).await;
    }

    /// Ends all processes.
    pub async fn shutdown_all(&self) {
        let live = std::mem::take(&mut *lock(&self.live));
        join_all(live.iter().map(|plugin| plugin.shutdown())).await;
    }

    /// The program of a provider and the process that told its schema.
    async fn first(
        &self,
        id: &str,
        source: &str,
    ) -> Result<(Launch, Arc<Source>, Arc<Plugin>), Diagnostics> {
        let mut launch = self.launch(id, source).await?;
        launch.env.clone_from(&self.env);
        let source = shared(lock(&self.sources).entry(launch.clone()));
        let first = source
            .first
            .get_or_init(|| self.start(id, &launch, None))
            .await;
        let plugin = first.clone()?;
        Ok((launch, source, plugin))
    }

    /// The program of a provider, installed if need be.
    async fn launch(&self, id: &str, source: &str) -> Result<Launch, Diagnostics> {
        if let Some(running) = self.running.find(id, source) {
            let program = match &running.address {
                handshake::Address::Unix(path) => path.clone(),
                handshake::Address::Tcp(address) => address.into(),
            };
            return Ok(Launch {
                running: Some(running.clone()),
                ..Launch::program(program)
            });
        }
        let found = match &self.installer {
            Some(installer) if Address::is_meant(source) => {
                let (id, source) = (id.to_owned(), source.to_owned());
                let installer = installer.clone();
                let found = spawn_blocking(move || install(&id, &source, &installer)).await;
                found.map_err(|e| {
                    Diagnostic::error("Cannot install provider").detail(e.to_string())
                })?
            }
            _ => resolve(id, source, &self.places),
        };
        found.map_err(|e| self.problem(source, &e).into())
    }

    fn problem(&self, source: &str, error: &SourceError) -> Diagnostic {
        let what = match error {
            SourceError::Install { .. } => "Cannot install provider",
            _ => "Cannot find provider",
        };
        let forgotten = Address::is_meant(source) && self.places.working_dir.join(source).exists();
        let hint = if forgotten {
            Some(format!("a path starts with ./ or /: write \"./{source}\""))
        } else {
            error.hint()
        };
        Diagnostic {
            hint,
            ..Diagnostic::error(what).detail(error.to_string())
        }
    }

    /// A process that is not configured yet; `first` if nobody took it.
    async fn unused(
        &self,
        id: &str,
        launch: &Launch,
        source: &Source,
        first: Arc<Plugin>,
    ) -> Result<Arc<Plugin>, Diagnostics> {
        // Who runs it must be able to watch all of it in one process.
        if launch.running.is_none() && source.taken.swap(true, Ordering::Relaxed) {
            self.start(id, launch, Some(&first)).await
        } else {
            Ok(first)
        }
    }

    /// Starts a process; the schema is taken from one of the same program, if there is one.
    async fn start(
        &self,
        id: &str,
        launch: &Launch,
        twin: Option<&Plugin>,
    ) -> Result<Arc<Plugin>, Diagnostics> {
        let catalog = twin.map(|twin| twin.catalog.clone());
        let plugin = Plugin::start(
            launch,
            id,
            self.counts.clone(),
            catalog,
            self.cache.as_ref(),
        )
        .await?;
        let plugin = Arc::new(plugin);
        lock(&self.live).push(plugin.clone());
        Ok(plugin)
    }
}

/// The value of an entry, made if there is none.
fn shared<K: Eq + Hash, T: Default>(entry: Entry<'_, K, Arc<T>>) -> Arc<T> {
    entry.or_default().clone()
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
