//! Providers under observation.

use std::ffi::OsString;
use std::sync::Arc;

use nivis::diagnostic::Diagnostics;
use nivis::provider::{ApplyRequest, Places, PlanRequest, PlanResponse, Pool, Provider};
use nivis::schema::{Block, implied_type};
use nivis::value::{Value, json};
use tempfile::TempDir;

use crate::support::real_provider;

/// A provider in a folder of its own, so that its processes and sockets can be told from all others.
pub(crate) struct Lab {
    folder: TempDir,
    pub(crate) source: String,
    pub(crate) pool: Pool,
}

impl Lab {
    /// A provider of other people, as [`real_provider`] has it.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let program = real_provider(name)?;
        let file = program.file_name()?;
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join(file);
        std::os::unix::fs::symlink(program, &link).unwrap();
        let env = vec![("TMPDIR".into(), folder.path().into())];
        Some(Self {
            source: link.to_str().unwrap().to_owned(),
            pool: pool(folder.path(), env),
            folder,
        })
    }

    /// The provider inside nivis, speaking one protocol.
    pub(crate) fn builtin(protocol: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = vec![("PLUGIN_PROTOCOL_VERSIONS".into(), protocol.into())];
        Self {
            source: "builtin".to_owned(),
            pool: pool(folder.path(), env),
            folder,
        }
    }

    /// The provider of the test suite, told by `vars` what to be; its faults are a file that [`Self::faults`] writes.
    pub(crate) fn fake(vars: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = "terraform-provider-fake";
        let link = folder.path().join(file);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-provider"), &link).unwrap();
        let mut env: Vec<(OsString, OsString)> = vars
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        env.push(("TMPDIR".into(), folder.path().into()));
        env.push(("FAKE_FAULTS".into(), folder.path().join("faults").into()));
        Self {
            source: link.to_str().unwrap().to_owned(),
            pool: pool(folder.path(), env),
            folder,
        }
    }

    /// What the fake provider does wrong from now on, as JSON.
    pub(crate) fn faults(&self, json: &str) {
        let path = self.folder.path().join("faults");
        nivis::fs::atomic_write(&path, json.as_bytes(), 0o600).unwrap();
    }

    /// A configured provider and the block of one of its resources.
    pub(crate) async fn start(&self, ty: &str) -> (Arc<dyn Provider>, Block) {
        let schema = self.pool.schema("p", &self.source).await.unwrap();
        let config = object(&schema.provider.block, "{}");
        let configured = self.pool.configured("p", &self.source, &config).await;
        let (provider, warnings) = configured.unwrap();
        assert_eq!(warnings, Diagnostics::default());
        (provider, schema.resources[ty].block.clone())
    }

    pub(crate) fn calls(&self, name: &str) -> u64 {
        let calls = self.pool.calls().by_name();
        calls.get(name).copied().unwrap_or_default()
    }

    /// Ids of the processes that run.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let id: u32 = entry.unwrap().file_name().to_str()?.parse().ok()?;
            let command = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
            command.starts_with(self.source.as_bytes()).then_some(id)
        });
        ids.collect()
    }

    pub(crate) fn sockets(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries
            .filter(|e| {
                let name = e.as_ref().unwrap().file_name();
                name.to_str().unwrap().starts_with("plugin")
            })
            .count()
    }

    pub(crate) fn kill_all(&self) {
        for id in self.processes() {
            #[expect(
                clippy::disallowed_methods,
                reason = "the test has no other way to kill"
            )]
            let status = std::process::Command::new("kill")
                .args(["-9", &id.to_string()])
                .status();
            assert!(status.unwrap().success());
        }
    }
}

fn pool(folder: &std::path::Path, env: Vec<(OsString, OsString)>) -> Pool {
    let places = Places {
        working_dir: folder.to_owned(),
        home: None,
        executable: env!("CARGO_BIN_EXE_nivis").into(),
    };
    Pool::new(places, env)
}

pub(crate) fn object(block: &Block, text: &str) -> Value {
    json::from_json(text.as_bytes(), &implied_type(block)).unwrap()
}

pub(crate) async fn plan_create(provider: &dyn Provider, ty: &str, config: &Value) -> PlanResponse {
    let null = Value::null(config.ty());
    let request = PlanRequest {
        ty,
        prior: &null,
        proposed: config,
        config,
        private: &[],
        identity: None,
    };
    let plan = provider.plan(request).await;
    assert!(!plan.diagnostics.has_errors(), "{}", plan.diagnostics);
    plan
}

pub(crate) fn apply<'a>(
    ty: &'a str,
    null: &'a Value,
    config: &'a Value,
    plan: &'a PlanResponse,
) -> ApplyRequest<'a> {
    ApplyRequest {
        ty,
        prior: null,
        planned: plan.planned.as_ref().unwrap(),
        config,
        private: &plan.private,
        identity: plan.identity.as_ref(),
    }
}
