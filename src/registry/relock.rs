//! `nivis providers lock`: choosing versions and collecting hashes, for several platforms.

use std::collections::BTreeSet;

use super::address::Address;
use super::error::InstallError;
use super::gate::in_parallel;
use super::hash::Hash;
use super::installer::Installer;
use super::lock_file::{LockFile, Locked};
use super::place::Place;
use super::platform::Platform;
use super::release::Release;
use super::select::Wants;

/// What to lock.
pub struct Relock<'a> {
    /// For which platforms hashes are collected.
    pub platforms: &'a [Platform],
    /// Choose the newest versions again.
    pub upgrade: bool,
    /// Providers that stay locked although the stack does not declare them: those of stored objects.
    pub keep: &'a BTreeSet<Address>,
}

impl Installer {
    /// Locks every provider that the stack wants and forgets those that nobody needs any more; gives the new lock file.
    ///
    /// Locked versions stay as long as they are wanted and no upgrade is asked for. Blocks.
    pub fn relock(&self, relock: &Relock<'_>) -> Result<LockFile, InstallError> {
        let before = self.locked()?;
        let mut wanted = self.wants();
        for address in relock.keep {
            wanted.entry(address.clone()).or_default();
        }
        let wanted: Vec<(Address, Wants)> = wanted.into_iter().collect();
        let locked = in_parallel(&wanted, |(address, wants)| {
            let old = before.providers.get(address);
            let locked = self.lock_one(address, wants, old, relock)?;
            Ok((address.clone(), locked))
        });
        let after = LockFile {
            providers: locked.into_iter().collect::<Result<_, InstallError>>()?,
        };
        if self.settings.read_only {
            let changes = differences(&before, &after);
            return if changes.is_empty() {
                Ok(after)
            } else {
                Err(self.read_only(changes))
            };
        }
        self.change_lock_file(|file| file.clone_from(&after))?;
        Ok(after)
    }

    fn lock_one(
        &self,
        address: &Address,
        wants: &Wants,
        old: Option<&Locked>,
        relock: &Relock<'_>,
    ) -> Result<Locked, InstallError> {
        let old = old.filter(|old| !relock.upgrade && wants.allow(&old.version));
        let release = Release {
            address: address.clone(),
            version: match old {
                Some(old) => old.version.clone(),
                None => self.newest(address, wants, &Platform::current())?,
            },
        };
        let mut hashes = old.map(|old| old.hashes.clone()).unwrap_or_default();
        for platform in relock.platforms {
            // A platform that is new to the lock file has no hash to be held to yet.
            let fetched = self.fetch(&release, platform, &BTreeSet::new())?;
            let archives = |all: &BTreeSet<Hash>| -> BTreeSet<Hash> {
                let is_archive = |h: &&Hash| matches!(h, Hash::Archive(_));
                all.iter().filter(is_archive).cloned().collect()
            };
            let (known, signed) = (archives(&hashes), &fetched.signed);
            if !known.is_empty() && !signed.is_empty() && known.is_disjoint(signed) {
                return Err(InstallError::Locked {
                    release: Box::new(release),
                    place: Place::Direct.to_string(),
                    found: signed
                        .iter()
                        .next()
                        .map_or_else(String::new, Hash::to_string),
                    locked: known.len(),
                });
            }
            hashes.extend(fetched.hashes);
            hashes.extend(fetched.signed);
        }
        Ok(Locked {
            version: release.version,
            constraints: wants.constraints(),
            hashes,
        })
    }
}

/// What has to change in a lock file, in words.
fn differences(before: &LockFile, after: &LockFile) -> Vec<String> {
    let mut changes = Vec::new();
    for address in before.providers.keys() {
        if !after.providers.contains_key(address) {
            changes.push(format!("{address} is locked and not needed"));
        }
    }
    for (address, new) in &after.providers {
        match before.providers.get(address) {
            None => changes.push(format!("{address} is not locked")),
            Some(old) if old.version != new.version => changes.push(format!(
                "{address} is locked to {}, and is to be {}",
                old.version, new.version
            )),
            Some(old) if old.hashes != new.hashes => {
                let missing = new.hashes.difference(&old.hashes).count();
                changes.push(format!("{address} lacks {missing} hashes"));
            }
            Some(old) if old.constraints != new.constraints => changes.push(format!(
                "the constraints of {address} are `{}`, and are to be `{}`",
                old.constraints, new.constraints
            )),
            Some(_) => {}
        }
    }
    changes
}
