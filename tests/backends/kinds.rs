//! A new place of every kind of backend that keeps something outside the process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use nivis::registry::Network;
use nivis::state::{Backend, BackendConfig, LockInfo, Surroundings, connect};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::http_server::HttpServer;
use super::servers;
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
            backups: 1,
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
    let mut places = vec![http()];
    places.extend(pg());
    places.extend(s3());
    places
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

/// A name that no other place of this process has.
fn new_name() -> String {
    static NAMES: AtomicUsize = AtomicUsize::new(0);
    format!("team/{}", NAMES.fetch_add(1, SeqCst))
}

pub(super) fn pg() -> Option<Place> {
    let server = servers::postgres()?;
    let name = new_name();
    let environment = [
        ("PGHOST", "127.0.0.1".to_owned()),
        ("PGPORT", server.port.to_string()),
        ("PGUSER", "nivis".to_owned()),
        ("PGPASSWORD", "secret".to_owned()),
        ("PGDATABASE", "nivis".to_owned()),
    ];
    let reach = Reach {
        config: config("pg", json!({ "name": name })),
        environment: environment.map(|(k, v)| (k.to_owned(), v)).into(),
    };
    let own = reach.clone();
    let put = Box::new(move |bytes: &[u8]| {
        // The first lock makes the table.
        let folder = tempfile::tempdir().unwrap();
        let backend = own.connect(folder.path());
        let info = LockInfo::new("test", "test", "");
        let _ = backend.lock(&info, Duration::ZERO);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let put = format!(
            "INSERT INTO nivis.states (name, data, version) VALUES ('{name}', '\\x{hex}', 1)
             ON CONFLICT (name) DO UPDATE SET data = excluded.data, version = states.version + 1"
        );
        servers::psql_in(server, "nivis", &put, b"").unwrap();
    });
    Some(Place {
        reach,
        frees_the_dead: true,
        put,
        folder: tempfile::tempdir().unwrap(),
    })
}

pub(super) fn s3() -> Option<Place> {
    let server = servers::s3()?;
    let name = new_name();
    let settings = json!({
        "bucket": "states",
        "key": name,
        "endpoint": format!("http://127.0.0.1:{}", server.port),
    });
    let path = server.folder.join("data/states").join(&name);
    Some(Place {
        reach: Reach {
            config: config("s3", settings),
            environment: servers::s3_environment(),
        },
        frees_the_dead: false,
        put: Box::new(move |bytes| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // A new file: its entity tag is kept in an attribute of the old one.
            let _ = std::fs::remove_file(&path);
            overwrite(&path, bytes).unwrap();
        }),
        folder: tempfile::tempdir().unwrap(),
    })
}
