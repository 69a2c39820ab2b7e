//! A new place of every kind of backend that keeps something outside the process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nivis::registry::Network;
use nivis::state::{Backend, BackendConfig, Surroundings, connect};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::http_server::HttpServer;
use crate::support::overwrite;

/// Where one state is kept, and how machines get there.
pub(super) struct Place {
    pub(super) reach: Reach,
    /// Whether the lock of a dead process is free at once.
    pub(super) frees_the_dead: bool,
    put: Box<Put>,
    folder: tempfile::TempDir,
}

/// Puts bytes in the place of the state file.
type Put = dyn Fn(&[u8]);

/// All that a machine has to know.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Reach {
    pub(super) config: BackendConfig,
    pub(super) environment: BTreeMap<String, String>,
}

impl Reach {
    /// The backend for a machine that has this folder.
    pub(super) fn connect(&self, folder: &Path) -> Box<dyn Backend> {
        let surroundings = Surroundings {
            folder,
            working: folder,
            environment: &self.environment,
            network: &Network::default(),
        };
        connect(&self.config, surroundings).unwrap()
    }
}

impl Place {
    /// The backend as a machine of this name has it.
    pub(super) fn machine(&self, name: &str) -> Box<dyn Backend> {
        self.reach.connect(&self.folder(name))
    }

    /// The stack's folder on that machine.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name).join(".nivis/default")
    }

    /// Puts bytes in the place of the state file, without asking anybody.
    pub(super) fn put(&self, bytes: &[u8]) {
        (self.put)(bytes);
    }
}

/// What a stack says in `backend`.
pub(super) fn config(ty: &str, settings: Value) -> BackendConfig {
    let Value::Object(settings) = settings else {
        panic!("settings are an object");
    };
    BackendConfig {
        ty: ty.to_owned(),
        settings,
    }
}

/// One place of every kind.
pub(super) fn all() -> Vec<Place> {
    let mut places = shared();
    places.push(local());
    places
}

/// One place of every kind that several machines can reach.
pub(super) fn shared() -> Vec<Place> {
    vec![http()]
}

pub(super) fn local() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("shared");
    let reach = Reach {
        config: config("local", json!({ "path": state })),
        environment: BTreeMap::new(),
    };
    let put = Box::new(move |bytes: &[u8]| {
        std::fs::create_dir_all(&state).unwrap();
        overwrite(&state.join("state.json"), bytes).unwrap();
    });
    Place {
        reach,
        frees_the_dead: true,
        put,
        folder,
    }
}

pub(super) fn http() -> Place {
    let server = HttpServer::shared();
    let path = server.new_path();
    let reach = Reach {
        config: config(
            "http",
            json!({
                "address": server.url(&path),
                "lock_address": server.url(&format!("{path}/lock")),
                "unlock_address": server.url(&format!("{path}/lock")),
                "retry_wait_min": 0,
            }),
        ),
        environment: [("TF_HTTP_USERNAME", "anna"), ("TF_HTTP_PASSWORD", "secret")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into(),
    };
    Place {
        reach,
        frees_the_dead: false,
        put: Box::new(move |bytes| server.put(&path, bytes)),
        folder: tempfile::tempdir().unwrap(),
    }
}
