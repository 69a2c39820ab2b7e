//! From addresses to programs: what is wanted, what is locked, what has to be fetched.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::address::Address;
use super::direct::Direct;
use super::error::InstallError;
use super::fetch::{Fetched, Job, named, program};
use super::gate::{Gate, in_parallel};
use super::hash::Hash;
use super::http::{Client, Network};
use super::lock_file::{LockFile, Locked};
use super::offer::Voucher;
use super::place::{Net, Place};
use super::platform::Platform;
use super::release::Release;
use super::select::{Wants, select};
use super::version::Version;
use crate::fs::{self, FileLock};

/// How many packages are fetched at once.
const AT_ONCE: usize = 4;

/// How long to wait for another run that is writing a lock file.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where providers come from and where they are kept.
#[derive(Clone)]
pub struct Settings {
    /// Root of the shared cache.
    pub cache: Option<PathBuf>,
    /// Where packages come from: the first that knows a provider counts.
    pub places: Vec<Place>,
    /// The registry of addresses without a host.
    pub default_host: String,
    /// How to reach servers.
    pub network: Network,
    /// The lock file.
    pub lock_file: PathBuf,
    /// Whether the lock file must stay as it is.
    pub read_only: bool,
    /// Takes what a person should know, line by line.
    pub tell: fn(&str),
}

/// Installs the providers of one stack. Every provider is installed once, whoever asks first.
pub struct Installer {
    pub(super) settings: Settings,
    state: Mutex<State>,
    /// Made when it is needed: reading the certificates takes a while.
    net: OnceLock<Net>,
    gate: Gate,
}

/// The program of a provider, once it is installed.
type Program = Arc<OnceLock<Result<PathBuf, Arc<InstallError>>>>;

#[derive(Default)]
struct State {
    wants: BTreeMap<Address, Wants>,
    programs: HashMap<Address, Program>,
}

impl Installer {
    /// An installer that has not looked at anything yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: Mutex::default(),
            net: OnceLock::new(),
            gate: Gate::new(AT_ONCE),
        }
    }

    /// The registry of addresses without a host.
    pub fn default_host(&self) -> &str {
        &self.settings.default_host
    }

    /// Says what the stack wants, in place of what it wanted before. A provider that nobody mentions may be any release.
    pub fn want(&self, wants: BTreeMap<Address, Wants>) {
        let mut state = self.state();
        let State {
            wants: old,
            programs,
        } = &mut *state;
        programs.retain(|address, _| old.get(address) == wants.get(address));
        *old = wants;
    }

    /// What the stack wants.
    pub fn wants(&self) -> BTreeMap<Address, Wants> {
        self.state().wants.clone()
    }

    /// What is locked.
    pub fn locked(&self) -> Result<LockFile, InstallError> {
        Ok(LockFile::read(&self.settings.lock_file)?)
    }

    /// The program of a provider for this machine, installed and locked if it is not yet. Blocks.
    pub fn program(&self, address: &Address) -> Result<PathBuf, Arc<InstallError>> {
        let (program, wants) = {
            let mut state = self.state();
            let wants = state.wants.get(address).cloned().unwrap_or_default();
            let program = state.programs.entry(address.clone()).or_default();
            (Arc::clone(program), wants)
        };
        let found = program.get_or_init(|| self.install(address, &wants).map_err(Arc::new));
        found.clone()
    }

    /// The programs of all providers that the stack wants, installed side by side.
    pub fn install_all(&self) -> Result<(), Arc<InstallError>> {
        let addresses: Vec<Address> = self.wants().into_keys().collect();
        let found = in_parallel(&addresses, |address| self.program(address));
        found.into_iter().try_for_each(|found| found.map(drop))
    }

    fn install(&self, address: &Address, wants: &Wants) -> Result<PathBuf, InstallError> {
        let platform = Platform::current();
        let locked = self.locked()?.providers.remove(address);
        if self.settings.read_only && locked.is_none() {
            return Err(self.read_only(vec![format!("{address} is not locked")]));
        }
        let release = Release {
            address: address.clone(),
            version: match &locked {
                Some(locked) => locked.version.clone(),
                None => self.newest(address, wants, &platform)?,
            },
        };
        if !wants.allow(&release.version) {
            return Err(InstallError::LockedVersion {
                release: Box::new(release),
                wants: wants.clone(),
            });
        }
        let hashes = locked.map(|locked| locked.hashes).unwrap_or_default();
        let fetched = self.fetch(&release, &platform, &hashes)?;
        let program = program(&fetched.folder, &release)?;
        self.note(&release, wants, &fetched)?;
        Ok(program)
    }

    /// The version to take when none is locked: of the first place that knows the provider.
    pub(super) fn newest(
        &self,
        address: &Address,
        wants: &Wants,
        platform: &Platform,
    ) -> Result<Version, InstallError> {
        let net = self.net()?;
        for place in &self.settings.places {
            let offers = place.versions(net, address);
            let offers = offers.map_err(|source| InstallError::Place {
                address: Box::new(address.clone()),
                source,
            })?;
            if let Some(offers) = offers {
                return Ok(select(address, wants, platform, offers)?);
            }
        }
        Err(InstallError::Unknown {
            address: Box::new(address.clone()),
            places: named(&self.settings.places),
        })
    }

    /// The package of a version for a platform, in the cache.
    pub(super) fn fetch(
        &self,
        release: &Release,
        platform: &Platform,
        locked: &BTreeSet<Hash>,
    ) -> Result<Fetched, InstallError> {
        let cache = self.settings.cache.as_deref();
        let job = Job {
            release,
            platform,
            locked,
            places: &self.settings.places,
            cache: cache.ok_or(InstallError::NoCache)?,
        };
        let _turn = self.gate.enter();
        let fetched = job.run(|| self.net(), self.settings.tell)?;
        match &fetched.voucher {
            Some(Voucher::Key(key)) => {
                (self.settings.tell)(&format!("{release} is signed by the key {key}"));
            }
            Some(Voucher::Unsigned) => (self.settings.tell)(&format!(
                "warning: {release} is not signed: its registry names no keys for it"
            )),
            Some(Voucher::Mirror) | None => {}
        }
        Ok(fetched)
    }

    /// Adds what was found to the lock file. One that must stay as it is has the provider already, and hashes of it that fit.
    pub(super) fn note(
        &self,
        release: &Release,
        wants: &Wants,
        fetched: &Fetched,
    ) -> Result<(), InstallError> {
        if self.settings.read_only {
            return Ok(());
        }
        let Release { address, version } = release;
        self.change_lock_file(|file| {
            let entry = file.providers.entry(address.clone());
            let entry = entry.or_insert_with(|| Locked {
                version: version.clone(),
                constraints: wants.constraints(),
                hashes: BTreeSet::new(),
            });
            // Another run may have locked another version meanwhile; the next run of this one will see.
            if entry.version == *version {
                let hashes = fetched.hashes.iter().chain(&fetched.signed);
                entry.hashes.extend(hashes.cloned());
            }
        })
    }

    /// Reads the lock file, changes it and writes it, while no other run does.
    pub(super) fn change_lock_file(
        &self,
        change: impl FnOnce(&mut LockFile),
    ) -> Result<(), InstallError> {
        let cache = self
            .settings
            .cache
            .as_deref()
            .ok_or(InstallError::NoCache)?;
        fs::create_dir(cache)?;
        // If somebody holds it for so long, the worst is that one of two changes gets lost and is made again.
        let _guard = FileLock::acquire(&cache.join("lock-files"), PATIENCE)?;
        let mut file = LockFile::read(&self.settings.lock_file)?;
        change(&mut file);
        file.write(&self.settings.lock_file)?;
        Ok(())
    }

    /// The error for a lock file that must stay as it is and would have to change so.
    pub(super) fn read_only(&self, changes: Vec<String>) -> InstallError {
        InstallError::ReadOnly {
            path: self.settings.lock_file.clone(),
            changes,
        }
    }

    /// What reaches places.
    pub(super) fn net(&self) -> Result<&Net, InstallError> {
        if let Some(net) = self.net.get() {
            return Ok(net);
        }
        let net = Net {
            client: Client::new(&self.settings.network)?,
            direct: Direct::default(),
        };
        Ok(self.net.get_or_init(|| net))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
