//! From addresses to programs: what is wanted, what is locked, what has to be fetched.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::address::Address;
use super::direct::Direct;
use super::error::InstallError;
use super::fetch::{Fetched, Job, named, program};
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
    /// Takes what a person should know, line by line.
    pub tell: fn(&str),
}

/// Installs the providers of one stack. Every provider is installed once, whoever asks first.
pub struct Installer {
    pub(super) settings: Settings,
    state: Mutex<State>,
    /// Made when it is needed: reading the certificates takes a while.
    net: OnceLock<Net>,
}

#[derive(Default)]
struct State {
    wants: BTreeMap<Address, Wants>,
    programs: HashMap<Address, Result<PathBuf, Arc<InstallError>>>,
}

impl Installer {
    /// An installer that has not looked at anything yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: Mutex::default(),
            net: OnceLock::new(),
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
        let mut state = self.state();
        if let Some(known) = state.programs.get(address) {
            return known.clone();
        }
        let wants = state.wants.get(address).cloned().unwrap_or_default();
        let found = self.install(address, &wants).map_err(Arc::new);
        state.programs.insert(address.clone(), found.clone());
        found
    }

    fn install(&self, address: &Address, wants: &Wants) -> Result<PathBuf, InstallError> {
        let platform = Platform::current();
        let locked = self.locked()?.providers.remove(address);
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

    /// Adds what was found to the lock file.
    pub(super) fn note(
        &self,
        release: &Release,
        wants: &Wants,
        fetched: &Fetched,
    ) -> Result<(), InstallError> {
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
