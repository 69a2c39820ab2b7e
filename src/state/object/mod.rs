//! A state as an object of a store: S3 and what speaks like it, Google Cloud Storage, Azure. The lock is an object beside it that
//! only one can create; a write names the version that it replaces.

mod azure;
mod gcs;
mod s3;

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;
use object_store::{
    Certificate, ClientOptions, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload,
    RetryConfig, UpdateVersion,
};

use super::backend::BackendError;
use super::bridge::Bridge;
use super::config::{ConfigError, Settings};
use super::lock::{LockInfo, UnlockError, check_unlock};
use super::remote::{Attempt, Store, StoreGuard};
use crate::fs;

pub(super) use azure::{KEYS as AZURE_KEYS, connect as azure};
pub(super) use gcs::{KEYS as GCS_KEYS, connect as gcs};
pub(super) use s3::{KEYS as S3_KEYS, connect as s3};

/// What follows the name of a state in that of its lock.
const LOCK: &str = ".lock";
/// Longest piece of an answer that goes into a message.
const LONGEST: usize = 300;

/// What the kinds have in common to say.
struct Parts {
    store: Arc<dyn ObjectStore>,
    key: String,
    place: String,
    hint: &'static str,
}

/// The store for what a kind of it was built with.
fn store(parts: Parts) -> Result<Box<dyn Store>, ConfigError> {
    let path = |name: &str| {
        Path::parse(name).map_err(|e| ConfigError::Invalid {
            key: "key".to_owned(),
            problem: e.to_string(),
        })
    };
    Ok(Box::new(Object(Arc::new(Shared {
        bridge: Bridge::default(),
        state: path(&parts.key)?,
        lock: path(&format!("{}{LOCK}", parts.key))?,
        store: parts.store,
        place: parts.place,
        hint: parts.hint,
    }))))
}

/// The client for an endpoint, and the authorities in the file that `key` names, if it names one.
fn client(
    settings: &Settings<'_>,
    endpoint: Option<&str>,
    key: &str,
) -> Result<ClientOptions, ConfigError> {
    let mut options = ClientOptions::new()
        .with_allow_http(endpoint.is_some_and(|url| url.starts_with("http://")))
        .with_connect_timeout(Duration::from_secs(15))
        .with_timeout(Duration::from_secs(300));
    if let Some(path) = settings.text(key)? {
        let invalid = |problem: String| ConfigError::Invalid {
            key: key.to_owned(),
            problem,
        };
        let pem = fs::read(path.as_ref()).map_err(|e| invalid(e.to_string()))?;
        let found = Certificate::from_pem_bundle(&pem).map_err(|e| invalid(e.to_string()))?;
        for certificate in found {
            options = options.with_root_certificate(certificate);
        }
    }
    Ok(options)
}

fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: 4,
        retry_timeout: Duration::from_secs(120),
        ..RetryConfig::default()
    }
}

/// The error for settings that make no client.
fn unusable(error: &Error) -> ConfigError {
    ConfigError::Invalid {
        key: "backend".to_owned(),
        problem: problem(error),
    }
}

/// What happened: the server's own words if there are any, on one line.
fn problem(error: &Error) -> String {
    let text = error.to_string();
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once("</")?.0.to_owned())
    };
    if let (Some(code), Some(message)) = (tag("Code"), tag("Message")) {
        return format!("{message} ({code})");
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

/// Whether it is the bucket that is not there.
fn is_missing_bucket(error: &Error) -> bool {
    let text = error.to_string();
    ["NoSuchBucket", "ContainerNotFound", "bucket does not exist"]
        .iter()
        .any(|sign| text.contains(sign))
}

struct Object(Arc<Shared>);

struct Shared {
    bridge: Bridge,
    store: Arc<dyn ObjectStore>,
    state: Path,
    lock: Path,
    place: String,
    hint: &'static str,
}

/// An object and its version.
type Found = Option<(Vec<u8>, UpdateVersion)>;

async fn get(store: &dyn ObjectStore, path: &Path) -> Result<Found, Error> {
    match store.get(path).await {
        Ok(found) => {
            let version = UpdateVersion {
                e_tag: found.meta.e_tag.clone(),
                version: found.meta.version.clone(),
            };
            Ok(Some((found.bytes().await?.to_vec(), version)))
        }
        Err(error @ Error::NotFound { .. }) if !is_missing_bucket(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Shared {
    fn failed(&self, error: &Error) -> BackendError {
        BackendError::Remote {
            place: self.place.clone(),
            problem: problem(error),
            hint: Some(self.hint.to_owned()),
        }
    }

    fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, BackendError> {
        self.bridge
            .wait(future)
            .map_err(|problem| BackendError::Remote {
                place: self.place.clone(),
                problem,
                hint: None,
            })
    }

    fn get(&self, path: &Path) -> Result<Found, BackendError> {
        let (store, path) = (Arc::clone(&self.store), path.clone());
        self.wait(async move { get(&*store, &path).await })?
            .map_err(|error| self.failed(&error))
    }

    /// Puts an object in its place; gives its version.
    fn put(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: PutMode,
    ) -> Result<Result<UpdateVersion, Error>, BackendError> {
        let (store, path) = (Arc::clone(&self.store), path.clone());
        let payload = PutPayload::from(bytes.to_vec());
        self.wait(async move {
            let put = store.put_opts(&path, payload, mode.into()).await;
            put.map(UpdateVersion::from)
        })
    }

    fn delete(&self, path: &Path) -> Result<(), BackendError> {
        let (store, path) = (Arc::clone(&self.store), path.clone());
        match self.wait(async move { store.delete(&path).await })? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Who has the lock. One that cannot be read is somebody's too.
    fn holder(&self) -> Result<Option<LockInfo>, BackendError> {
        let found = self.get(&self.lock)?;
        Ok(found.map(|(bytes, _)| {
            LockInfo::from_json(&bytes).unwrap_or_else(|| LockInfo {
                id: "unreadable".to_owned(),
                pid: 0,
                ..LockInfo::new("?", "somebody", &self.place)
            })
        }))
    }
}

impl Store for Object {
    fn place(&self) -> String {
        self.0.place.clone()
    }

    fn read(&self) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(self.0.get(&self.0.state)?.map(|(bytes, _)| bytes))
    }

    fn try_lock(&self, info: &LockInfo) -> Result<Attempt, BackendError> {
        let made = self.0.put(&self.0.lock, &info.to_json(), PutMode::Create)?;
        match made {
            Ok(_) => {}
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                // An attempt whose answer was lost may have succeeded.
                match self.0.holder()? {
                    Some(holder) if holder.id == info.id => {}
                    holder => return Ok(Attempt::Held(holder.map(Box::new))),
                }
            }
            Err(error) => return Err(self.0.failed(&error)),
        }
        Ok(Attempt::Locked(Box::new(ObjectGuard {
            shared: Arc::clone(&self.0),
            id: info.id.clone(),
            known: None,
        })))
    }

    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        check_unlock(self.0.holder()?, id, self.place())?;
        Ok(self.0.delete(&self.0.lock)?)
    }
}

struct ObjectGuard {
    shared: Arc<Shared>,
    id: String,
    /// Version of the state as we know it; `None` if there is none.
    known: Option<UpdateVersion>,
}

impl StoreGuard for ObjectGuard {
    fn read(&mut self) -> Result<Option<Vec<u8>>, BackendError> {
        let found = self.shared.get(&self.shared.state)?;
        let (bytes, version) = found.unzip();
        self.known = version;
        Ok(bytes)
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        let place = || self.shared.place.clone();
        if self.shared.holder()?.is_none_or(|h| h.id != self.id) {
            return Err(BackendError::LockLost { place: place() });
        }
        let mode = match &self.known {
            Some(version) => PutMode::Update(version.clone()),
            None => PutMode::Create,
        };
        match self.shared.put(&self.shared.state, snapshot, mode)? {
            Ok(version) => {
                self.known = Some(version);
                Ok(())
            }
            Err(
                Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. },
            ) => Err(BackendError::Conflict { place: place() }),
            Err(error) => Err(self.shared.failed(&error)),
        }
    }

    fn free(&mut self) -> Result<(), BackendError> {
        match self.shared.holder()? {
            Some(holder) if holder.id == self.id => self.shared.delete(&self.shared.lock),
            // A broken lock is not ours to free.
            _ => Ok(()),
        }
    }
}
