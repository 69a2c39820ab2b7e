//! What we made last time: model, file format, journal, locks, backends.

mod backend;
mod bridge;
mod check;
mod codec;
mod config;
mod file;
mod http;
mod journal;
mod local;
mod lock;
mod members;
mod memory;
mod object;
mod pg;
mod record;
mod recover;
mod remote;
mod report;
mod session;
mod state;
pub mod tfstate;
#[cfg(test)]
mod testing;
mod time;

pub use backend::{Backend, BackendError, Contents, LockGuard};
pub use check::{CheckRecord, CheckStatus, CheckSubject};
pub use config::{BackendConfig, ConfigError, KINDS, Key, Kind, Surroundings, connect};
pub use file::{EncodeError, FileError, Snapshot, VERSION, decode, encode};
pub use journal::{JournalError, Start};
pub use local::{Local, create_folder};
pub use lock::{LockError, LockInfo, UnlockError};
pub use members::FormError;
pub use memory::Memory;
pub use record::{Intent, Operation, Outcome, Record};
pub use recover::{RecoverError, Recovered};
pub use session::{Session, StateError};
pub use state::{DeriveInput, Extra, Object, OutputValue, ResourceState, State, Status};
pub use time::rfc3339;
