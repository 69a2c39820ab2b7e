//! A state behind a web server, in the protocol of OpenTofu's and Terraform's `http` backend: GET reads, POST writes, LOCK and
//! UNLOCK lock (docs/reference/backends.md).

mod client;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{Method, StatusCode};
use md5::Md5;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::client::{Answer, Client, Options, Request};
use super::backend::BackendError;
use super::config::{ConfigError, Key, Settings};
use super::lock::{LockInfo, UnlockError, check_unlock};
use super::remote::{Attempt, Store, StoreGuard};

pub(super) const KEYS: &[Key] = &[
    ("address", &["TF_HTTP_ADDRESS"]),
    ("update_method", &["TF_HTTP_UPDATE_METHOD"]),
    ("lock_address", &["TF_HTTP_LOCK_ADDRESS"]),
    ("lock_method", &["TF_HTTP_LOCK_METHOD"]),
    ("unlock_address", &["TF_HTTP_UNLOCK_ADDRESS"]),
    ("unlock_method", &["TF_HTTP_UNLOCK_METHOD"]),
    ("username", &["TF_HTTP_USERNAME"]),
    ("password", &["TF_HTTP_PASSWORD"]),
    ("headers", &[]),
    (
        "skip_cert_verification",
        &["TF_HTTP_SKIP_CERT_VERIFICATION"],
    ),
    ("retry_max", &["TF_HTTP_RETRY_MAX"]),
    ("retry_wait_min", &["TF_HTTP_RETRY_WAIT_MIN"]),
    ("retry_wait_max", &["TF_HTTP_RETRY_WAIT_MAX"]),
    (
        "client_ca_certificate_pem",
        &["TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"],
    ),
    (
        "client_certificate_pem",
        &["TF_HTTP_CLIENT_CERTIFICATE_PEM"],
    ),
    (
        "client_private_key_pem",
        &["TF_HTTP_CLIENT_PRIVATE_KEY_PEM"],
    ),
];

/// The store that the settings describe.
pub(super) fn connect(settings: &Settings<'_>) -> Result<Box<dyn Store>, ConfigError> {
    let method = |key: &str, default: &str| {
        let text = settings.text(key)?.unwrap_or_else(|| default.to_owned());
        Method::from_bytes(text.as_bytes()).map_err(|_| ConfigError::Invalid {
            key: key.to_owned(),
            problem: "is no method of HTTP".to_owned(),
        })
    };
    let address = client::address("address", &settings.need("address")?)?;
    let other = |key: &str| match settings.text(key)?.filter(|text| !text.is_empty()) {
        Some(text) => client::address(key, &text).map(Some),
        None => Ok(None),
    };
    let locking = match (other("lock_address")?, other("unlock_address")?) {
        (None, None) => None,
        (Some(lock), unlock) => Some(Locking {
            unlock: unlock.unwrap_or_else(|| lock.clone()),
            lock,
            lock_method: method("lock_method", "LOCK")?,
            unlock_method: method("unlock_method", "UNLOCK")?,
        }),
        (None, Some(_)) => {
            return Err(ConfigError::Missing {
                key: "lock_address",
                variables: &["TF_HTTP_LOCK_ADDRESS"],
            });
        }
    };
    let options = Options::read(settings, &address)?;
    Ok(Box::new(Http(Arc::new(Server {
        client: Client::new(options, &address)?,
        address,
        update_method: method("update_method", "POST")?,
        locking,
    }))))
}

struct Http(Arc<Server>);

struct Server {
    client: Client,
    address: http::Uri,
    update_method: Method,
    locking: Option<Locking>,
}

/// How to lock; a server that cannot lock has no such thing.
struct Locking {
    lock: http::Uri,
    lock_method: Method,
    unlock: http::Uri,
    unlock_method: Method,
}

/// A lock as the protocol has it.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct WireLock {
    #[serde(rename = "ID")]
    id: String,
    operation: String,
    /// The process id: there is no member of its own for that.
    info: String,
    who: String,
    version: String,
    created: String,
    path: String,
}

impl From<&LockInfo> for WireLock {
    fn from(info: &LockInfo) -> Self {
        let info = info.clone();
        Self {
            id: info.id,
            operation: info.operation,
            info: format!("process {}", info.pid),
            who: info.who,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: info.created,
            path: info.path,
        }
    }
}

impl From<WireLock> for LockInfo {
    fn from(lock: WireLock) -> Self {
        let pid = lock.info.strip_prefix("process ");
        Self {
            pid: pid.and_then(|pid| pid.parse().ok()).unwrap_or_default(),
            id: lock.id,
            operation: lock.operation,
            who: lock.who,
            created: lock.created,
            path: lock.path,
        }
    }
}

impl Server {
    fn failed(&self, problem: impl Into<String>, hint: Option<&str>) -> BackendError {
        BackendError::Remote {
            place: self.address.to_string(),
            problem: problem.into(),
            hint: hint.map(str::to_owned),
        }
    }

    fn ask(&self, request: &Request<'_>) -> Result<Answer, BackendError> {
        let answer = self.client.ask(request);
        answer.map_err(|problem| self.failed(problem, None))
    }

    /// The error for an answer that nobody hoped for.
    fn refused(&self, what: &str, answer: &Answer) -> BackendError {
        let hint = match answer.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Some("credentials go into TF_HTTP_USERNAME and TF_HTTP_PASSWORD")
            }
            _ => None,
        };
        let problem = format!("the server answers {} when asked to {what}", answer.status);
        self.failed(problem, hint)
    }

    fn read(&self) -> Result<Option<Vec<u8>>, BackendError> {
        let answer = self.ask(&Request::get(&self.address))?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => return Ok(None),
            _ => return Err(self.refused("read it", &answer)),
        }
        if let Some(sum) = &answer.content_md5
            && *sum != md5(&answer.body)
        {
            let problem = "what came does not have the checksum that the server says it has";
            return Err(self.failed(problem, None));
        }
        Ok(Some(answer.body))
    }

    fn write(&self, snapshot: &[u8], lock: Option<&str>) -> Result<(), BackendError> {
        let address = match lock {
            Some(id) => client::with_query(&self.address, "ID", id),
            None => self.address.clone(),
        };
        let answer = self.ask(&Request {
            method: &self.update_method,
            address: &address,
            body: snapshot,
            content_md5: Some(md5(snapshot)),
        })?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED | StatusCode::NO_CONTENT => Ok(()),
            StatusCode::CONFLICT | StatusCode::LOCKED => Err(BackendError::LockLost {
                place: self.address.to_string(),
            }),
            _ => Err(self.refused("write it", &answer)),
        }
    }

    /// Takes the lock; otherwise the answer says who has it, unless the server does not know.
    fn lock(
        &self,
        locking: &Locking,
        info: &LockInfo,
    ) -> Result<Result<(), Option<LockInfo>>, BackendError> {
        let answer = self.ask(&Request {
            method: &locking.lock_method,
            address: &locking.lock,
            body: &serde_json::to_vec(&WireLock::from(info)).unwrap_or_default(),
            content_md5: None,
        })?;
        match answer.status {
            StatusCode::OK => Ok(Ok(())),
            StatusCode::CONFLICT | StatusCode::LOCKED => {
                let holder = serde_json::from_slice::<WireLock>(&answer.body).ok();
                let holder = holder.map(LockInfo::from).filter(|h| !h.id.is_empty());
                // An attempt whose answer was lost may have succeeded.
                match holder {
                    Some(holder) if holder.id == info.id => Ok(Ok(())),
                    other => Ok(Err(other)),
                }
            }
            _ => Err(self.refused("lock it", &answer)),
        }
    }

    fn unlock(&self, locking: &Locking, info: &LockInfo) -> Result<(), BackendError> {
        let answer = self.ask(&Request {
            method: &locking.unlock_method,
            address: &locking.unlock,
            body: &serde_json::to_vec(&WireLock::from(info)).unwrap_or_default(),
            content_md5: None,
        })?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(self.refused("unlock it", &answer))
    }
}

impl Store for Http {
    fn place(&self) -> String {
        self.0.address.to_string()
    }

    fn read(&self) -> Result<Option<Vec<u8>>, BackendError> {
        self.0.read()
    }

    fn try_lock(&self, info: &LockInfo) -> Result<Attempt, BackendError> {
        if let Some(locking) = &self.0.locking
            && let Err(holder) = self.0.lock(locking, info)?
        {
            return Ok(Attempt::Held(holder.map(Box::new)));
        }
        Ok(Attempt::Locked(Box::new(HttpGuard {
            server: Arc::clone(&self.0),
            info: info.clone(),
            known: Known::Unread,
        })))
    }

    /// The protocol has no question for the holder: trying to lock is the way to hear of one.
    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        let place = self.place();
        let Some(locking) = &self.0.locking else {
            return Err(UnlockError::NotLocked { place });
        };
        let probe = LockInfo::new("unlock", "nivis", &place);
        let holder = match self.0.lock(locking, &probe)? {
            Ok(()) => {
                self.0.unlock(locking, &probe)?;
                None
            }
            Err(Some(holder)) => Some(holder),
            // Then the server has to find out whether the id is right.
            Err(None) => Some(LockInfo {
                id: id.to_owned(),
                ..probe
            }),
        };
        check_unlock(holder.clone(), id, place)?;
        let holder = holder.unwrap_or(LockInfo {
            id: id.to_owned(),
            ..LockInfo::new("unlock", "nivis", "")
        });
        Ok(self.0.unlock(locking, &holder)?)
    }
}

struct HttpGuard {
    server: Arc<Server>,
    info: LockInfo,
    /// What is there, as far as we know.
    known: Known,
}

/// What is known of the state on the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Nothing.
    Unread,
    /// There is none.
    Missing,
    /// Its checksum.
    Sum([u8; 32]),
}

impl From<Option<&[u8]>> for Known {
    fn from(snapshot: Option<&[u8]>) -> Self {
        snapshot.map_or(Self::Missing, |bytes| {
            Self::Sum(Sha256::digest(bytes).into())
        })
    }
}

impl StoreGuard for HttpGuard {
    fn read(&mut self) -> Result<Option<Vec<u8>>, BackendError> {
        let snapshot = self.server.read()?;
        self.known = Known::from(snapshot.as_deref());
        Ok(snapshot)
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        // The protocol cannot make a write depend on what is there; this leaves an instant for somebody without a lock.
        let there = Known::from(self.server.read()?.as_deref());
        if self.known != Known::Unread && self.known != there {
            return Err(BackendError::Conflict {
                place: self.server.address.to_string(),
            });
        }
        let lock = self.server.locking.as_ref().map(|_| self.info.id.as_str());
        self.server.write(snapshot, lock)?;
        self.known = Known::from(Some(snapshot));
        Ok(())
    }

    fn free(&mut self) -> Result<(), BackendError> {
        match &self.server.locking {
            Some(locking) => self.server.unlock(locking, &self.info),
            None => Ok(()),
        }
    }
}

fn md5(bytes: &[u8]) -> String {
    BASE64.encode(Md5::digest(bytes))
}
