//! `nivis providers mirror`: a folder that serves as filesystem mirror and, behind any web server, as network mirror.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::InstallError;
use super::fetch::Job;
use super::folder::archive_name;
use super::hash::Hash;
use super::installer::Installer;
use super::mirror::{ArchiveEntry, Archives};
use super::place::Net;
use super::platform::Platform;
use super::release::Release;
use super::version::Version;
use crate::fs::{self, PathError, PrivateDir, tree};

impl Installer {
    /// Puts the archives of all locked providers for these platforms into the folder, with the documents of the network
    /// mirror protocol beside them; what is there already stays. Gives the archives. Blocks.
    pub fn mirror(
        &self,
        folder: &Path,
        platforms: &[Platform],
    ) -> Result<Vec<PathBuf>, InstallError> {
        let net = self.net()?;
        let mut written = Vec::new();
        for (address, locked) in self.locked()?.providers {
            let to = folder
                .join(&address.host)
                .join(&address.namespace)
                .join(&address.ty);
            fs::create_dir(&to)?;
            let version = locked.version;
            let release = Release { address, version };
            let version = &release.version;
            let mut archives: Archives = document(&to.join(format!("{version}.json")))?;
            for platform in platforms {
                let job = Job {
                    release: &release,
                    platform,
                    locked: &locked.hashes,
                    places: &self.settings.places,
                    cache: folder,
                };
                let name = archive_name(&release, platform);
                (self.settings.tell)(&format!("fetching {release} for {platform}"));
                let hashes = copy(&job, net, &to, &name)?;
                let entry = ArchiveEntry {
                    url: name.clone(),
                    hashes: hashes.iter().map(Hash::to_string).collect(),
                };
                archives.archives.insert(platform.to_string(), entry);
                written.push(to.join(name));
            }
            write(&to.join(format!("{version}.json")), &archives)?;
            index(&to, version)?;
        }
        Ok(written)
    }
}

/// Gets an archive through all checks to where the mirror has it.
fn copy(job: &Job<'_>, net: &Net, to: &Path, name: &str) -> Result<BTreeSet<Hash>, InstallError> {
    let (place, package) = job.find(net)?;
    let staging = PrivateDir::new(&[to.to_owned()])?;
    let verified = job.verified(net, place, &package, staging.path())?;
    let copy = staging.path().join("copy.zip");
    tree::copy(&verified.archive, &copy)?;
    tree::make_readable(&copy)?;
    tree::rename(&copy, &to.join(name))?;
    Ok(verified.hashes)
}

/// Adds a version to the mirror's list.
fn index(folder: &Path, version: &Version) -> Result<(), InstallError> {
    let path = folder.join("index.json");
    let mut index: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>> = document(&path)?;
    let versions = index.entry("versions".to_owned()).or_default();
    versions.entry(version.to_string()).or_default();
    write(&path, &index)
}

/// The document at `path`; an empty one if there is none.
fn document<T: DeserializeOwned + Default>(path: &Path) -> Result<T, InstallError> {
    let Some(bytes) = fs::read_optional(path)? else {
        return Ok(T::default());
    };
    serde_json::from_slice(&bytes).map_err(|error| failed("read", path, error).into())
}

fn write(path: &Path, document: &impl Serialize) -> Result<(), InstallError> {
    let mut bytes =
        serde_json::to_vec_pretty(document).map_err(|error| failed("write", path, error))?;
    bytes.push(b'\n');
    Ok(fs::atomic_write(path, &bytes, 0o644)?)
}

fn failed(operation: &'static str, path: &Path, error: serde_json::Error) -> PathError {
    PathError {
        operation,
        path: path.to_owned(),
        source: error.into(),
    }
}
