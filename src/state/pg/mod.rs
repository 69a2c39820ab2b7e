//! A state in a row of a PostgreSQL table. The lock is an advisory lock of the session, so that the server frees that of a dead
//! process; who has it stands beside the state.

mod target;
mod tls;

use std::sync::Arc;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use self::target::{Target, problem};
use super::backend::BackendError;
use super::bridge::Bridge;
use super::config::{ConfigError, Key, Settings};
use super::lock::{LockInfo, UnlockError, check_unlock};
use super::remote::{Attempt, Store, StoreGuard};

pub(super) const KEYS: &[Key] = &[
    ("conn_str", &["PG_CONN_STR"]),
    ("name", &[]),
    ("schema_name", &["PG_SCHEMA_NAME"]),
    ("table_name", &["PG_TABLE_NAME"]),
    ("skip_schema_creation", &["PG_SKIP_SCHEMA_CREATION"]),
    ("skip_table_creation", &["PG_SKIP_TABLE_CREATION"]),
];

/// The store that the settings describe.
pub(super) fn connect(settings: &Settings<'_>) -> Result<Box<dyn Store>, ConfigError> {
    Ok(Box::new(Pg(Arc::new(Shared {
        bridge: Bridge::default(),
        target: Arc::new(Target::from_settings(settings)?),
    }))))
}

struct Pg(Arc<Shared>);

struct Shared {
    bridge: Bridge,
    target: Arc<Target>,
}

/// What went wrong in the database.
enum Failure {
    Sql(Error),
    LockLost,
    Conflict,
    /// Not allowed to end the session that has the lock.
    Terminate,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl Shared {
    fn failed(&self, problem: String, hint: Option<&str>) -> BackendError {
        BackendError::Remote {
            place: self.target.place.clone(),
            problem,
            hint: hint.map(str::to_owned),
        }
    }

    fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, BackendError> {
        let place = || self.target.place.clone();
        let answer = self.bridge.wait(future);
        match answer.map_err(|problem| self.failed(problem, None))? {
            Ok(value) => Ok(value),
            Err(Failure::LockLost) => Err(BackendError::LockLost { place: place() }),
            Err(Failure::Conflict) => Err(BackendError::Conflict { place: place() }),
            Err(Failure::Terminate) => Err(self.failed(
                "the session that has the lock cannot be ended".to_owned(),
                Some("do it as the user whose session it is, or as a superuser"),
            )),
            Err(Failure::Sql(error)) => {
                let hint = (error.as_db_error().is_none() || is_refusal(&error)).then_some(
                    "the server is named by `conn_str`, PG_CONN_STR or PGHOST, PGPORT, PGDATABASE; credentials go into \
                     PGUSER and PGPASSWORD",
                );
                Err(self.failed(problem(&error), hint))
            }
        }
    }
}

/// Whether the server did not let us in.
fn is_refusal(error: &Error) -> bool {
    let refusals = [
        SqlState::INVALID_PASSWORD,
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        SqlState::INVALID_CATALOG_NAME,
    ];
    error.code().is_some_and(|code| refusals.contains(code))
}

impl Target {
    /// Makes schema and table, as far as that is ours to do.
    async fn create(&self, client: &mut Client) -> Result<(), Error> {
        let (schema, table) = (&self.schema, &self.table);
        let exists = client
            .query_one("SELECT to_regclass($1) IS NOT NULL", &[table])
            .await?;
        if exists.get(0) {
            return Ok(());
        }
        let transaction = client.transaction().await?;
        // Two at once would fail, in spite of `IF NOT EXISTS`.
        transaction
            .execute("SELECT pg_advisory_xact_lock(6227182134)", &[])
            .await?;
        let mut statements = String::new();
        if self.create_schema {
            statements += &format!("CREATE SCHEMA IF NOT EXISTS {schema};");
        }
        if self.create_table {
            statements += &format!(
                "CREATE TABLE IF NOT EXISTS {table} (
                   name text PRIMARY KEY,
                   version bigint NOT NULL DEFAULT 0,
                   data bytea,
                   holder text,
                   updated timestamptz NOT NULL DEFAULT now()
                 );"
            );
        }
        transaction.batch_execute(&statements).await?;
        transaction.commit().await
    }

    /// The state and its version.
    async fn read(&self, client: &Client) -> Result<(Option<Vec<u8>>, i64), Error> {
        let query = format!("SELECT data, version FROM {} WHERE name = $1", self.table);
        let row = client.query_opt(&query, &[&self.name]).await?;
        Ok(row.map_or((None, 0), |row| (row.get(0), row.get(1))))
    }

    async fn holder(&self, client: &Client) -> Result<Option<LockInfo>, Error> {
        let query = format!("SELECT holder FROM {} WHERE name = $1", self.table);
        let row = client.query_opt(&query, &[&self.name]).await?;
        let text: Option<String> = row.and_then(|row| row.get(0));
        Ok(text.and_then(|text| LockInfo::from_json(text.as_bytes())))
    }

    /// Takes the lock for the session of `client`, if it is free.
    async fn try_lock(&self, client: &Client) -> Result<bool, Error> {
        let query = "SELECT pg_try_advisory_lock($1)";
        let row = client.query_one(query, &[&self.lock_key()]).await?;
        Ok(row.get(0))
    }

    /// Notes who has the lock, or that nobody has.
    async fn note(&self, client: &Client, holder: Option<&LockInfo>) -> Result<(), Error> {
        let text = holder.map(|info| String::from_utf8_lossy(&info.to_json()).into_owned());
        let statement = format!(
            "INSERT INTO {} (name, holder) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder",
            self.table
        );
        client.execute(&statement, &[&self.name, &text]).await?;
        Ok(())
    }

    /// Replaces version `version` of the state; gives the new one.
    async fn write(
        &self,
        client: &Client,
        (id, version): (&str, i64),
        data: &[u8],
    ) -> Result<i64, Failure> {
        let statement = format!(
            "UPDATE {} SET data = $1, version = version + 1, updated = now()
             WHERE name = $2 AND version = $3 AND holder::json ->> 'id' = $4 RETURNING version",
            self.table
        );
        let written = client
            .query_opt(&statement, &[&data, &self.name, &version, &id])
            .await?;
        match written {
            Some(row) => Ok(row.get(0)),
            None if self.holder(client).await?.is_some_and(|h| h.id == id) => {
                Err(Failure::Conflict)
            }
            None => Err(Failure::LockLost),
        }
    }

    /// The process of the server whose session has the lock.
    async fn session(&self, client: &Client) -> Result<Option<i32>, Error> {
        let query =
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND (classid::bigint << 32) | objid::bigint = $1";
        let row = client.query_opt(query, &[&self.lock_key()]).await?;
        Ok(row.map(|row| row.get(0)))
    }
}

impl Store for Pg {
    fn place(&self) -> String {
        self.0.target.place.clone()
    }

    fn read(&self) -> Result<Option<Vec<u8>>, BackendError> {
        let target = Arc::clone(&self.0.target);
        self.0.wait(async move {
            let client = target.connect().await?;
            match target.read(&client).await {
                Ok((data, _)) => Ok(data),
                // The first run that may change something makes it.
                Err(e) if target.create_table && e.code() == Some(&SqlState::UNDEFINED_TABLE) => {
                    Ok(None)
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    fn try_lock(&self, info: &LockInfo) -> Result<Attempt, BackendError> {
        let target = Arc::clone(&self.0.target);
        let ours = info.clone();
        let taken = self.0.wait(async move {
            let mut client = target.connect().await?;
            target.create(&mut client).await?;
            if target.try_lock(&client).await? {
                target.note(&client, Some(&ours)).await?;
                return Ok(Ok(client));
            }
            Ok(Err(target.holder(&client).await?))
        })?;
        Ok(match taken {
            Ok(client) => Attempt::Locked(Box::new(PgGuard {
                shared: Arc::clone(&self.0),
                client: Arc::new(client),
                info: info.clone(),
                version: 0,
            })),
            Err(holder) => Attempt::Held(holder.map(Box::new)),
        })
    }

    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        let target = Arc::clone(&self.0.target);
        let found = self.0.wait(async move {
            let client = target.connect().await?;
            let Some(session) = target.session(&client).await? else {
                return Ok(None);
            };
            Ok(target
                .holder(&client)
                .await?
                .map(|holder| (session, holder)))
        })?;
        let (session, holder) = found.unzip();
        check_unlock(holder, id, self.place())?;
        let target = Arc::clone(&self.0.target);
        Ok(self.0.wait(async move {
            let client = target.connect().await?;
            target.note(&client, None).await?;
            let end = "SELECT pg_terminate_backend($1)";
            match client.query_one(end, &[&session]).await {
                Ok(_) => Ok(()),
                Err(_) => Err(Failure::Terminate),
            }
        })?)
    }
}

struct PgGuard {
    shared: Arc<Shared>,
    /// Its session has the lock.
    client: Arc<Client>,
    info: LockInfo,
    /// Of the state as we know it.
    version: i64,
}

impl PgGuard {
    /// A session that has the lock: the one there is, or another if that one broke and nobody was there meanwhile.
    fn client(&mut self) -> Result<Arc<Client>, BackendError> {
        if self.client.is_closed() {
            let target = Arc::clone(&self.shared.target);
            let id = self.info.id.clone();
            let client = self.shared.wait(async move {
                let client = target.connect().await?;
                let ours = target.holder(&client).await?.is_some_and(|h| h.id == id);
                if !ours || !target.try_lock(&client).await? {
                    return Err(Failure::LockLost);
                }
                Ok(client)
            })?;
            self.client = Arc::new(client);
        }
        Ok(Arc::clone(&self.client))
    }
}

impl StoreGuard for PgGuard {
    fn read(&mut self) -> Result<Option<Vec<u8>>, BackendError> {
        let (client, target) = (self.client()?, Arc::clone(&self.shared.target));
        let read = async move { Ok(target.read(&client).await?) };
        let (data, version) = self.shared.wait(read)?;
        self.version = version;
        Ok(data)
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        let (client, target) = (self.client()?, Arc::clone(&self.shared.target));
        let (id, version) = (self.info.id.clone(), self.version);
        let snapshot = snapshot.to_vec();
        self.version = self
            .shared
            .wait(async move { target.write(&client, (&id, version), &snapshot).await })?;
        Ok(())
    }

    /// The lock goes with the session; who had it is of no interest any more.
    fn free(&mut self) -> Result<(), BackendError> {
        let (client, target) = (Arc::clone(&self.client), Arc::clone(&self.shared.target));
        let id = self.info.id.clone();
        if client.is_closed() {
            return Ok(());
        }
        self.shared.wait(async move {
            if target.holder(&client).await?.is_some_and(|h| h.id == id) {
                target.note(&client, None).await?;
                let free = "SELECT pg_advisory_unlock($1)";
                client.query_one(free, &[&target.lock_key()]).await?;
            }
            Ok(())
        })
    }
}
