//! Which server, which table, which row; from settings and the variables that PostgreSQL's own programs read.

use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};

use super::tls::Tls;
use crate::fs;
use crate::state::config::{ConfigError, Settings};

/// How long a server may take to answer the door.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// After how long a silent connection is asked whether it lives: it holds the lock, and firewalls forget silent ones.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// One state in a database.
#[derive(Clone)]
pub(super) struct Target {
    config: Config,
    tls: Tls,
    /// Quoted, to be put into statements.
    pub(super) schema: String,
    /// Quoted, with the schema.
    pub(super) table: String,
    pub(super) name: String,
    pub(super) create_schema: bool,
    pub(super) create_table: bool,
    pub(super) place: String,
}

impl Target {
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self, ConfigError> {
        let text = settings.text("conn_str")?.unwrap_or_default();
        let (text, mode) = take_parameter(&text, "sslmode");
        let (text, authorities) = take_parameter(&text, "sslrootcert");
        let mut config: Config = text.parse().map_err(|e| {
            // The text may hold a password.
            invalid("conn_str", format!("cannot be read: {}", problem(&e)))
        })?;
        complete(&mut config, settings)?;
        let given = |from: Option<String>, variable| {
            from.or_else(|| settings.variable(variable).map(str::to_owned))
        };
        let tls = secrecy(
            &mut config,
            given(mode, "PGSSLMODE").as_deref(),
            given(authorities, "PGSSLROOTCERT").map(PathBuf::from),
            settings,
        )?;
        let named = |key: &str, default: &str| {
            Ok::<_, ConfigError>(settings.text(key)?.unwrap_or_else(|| default.to_owned()))
        };
        let (schema, table) = (
            named("schema_name", "nivis")?,
            named("table_name", "states")?,
        );
        let name = settings.need("name")?;
        let place = format!("{}/{schema}.{table}/{name}", server(&config));
        let (schema, table) = (quoted(&schema), quoted(&table));
        Ok(Self {
            tls,
            table: format!("{schema}.{table}"),
            schema,
            name,
            create_schema: !settings.flag("skip_schema_creation")?,
            create_table: !settings.flag("skip_table_creation")?,
            place,
            config,
        })
    }

    /// The number that stands for this state among the advisory locks of its database.
    pub(super) fn lock_key(&self) -> i64 {
        let text = format!("nivis state\n{}\n{}", self.table, self.name);
        let sum = Sha256::digest(text);
        sum.iter()
            .take(8)
            .fold(0, |key, byte| key << 8 | i64::from(*byte))
    }

    /// A connection, which lives until the client is dropped.
    pub(super) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            // Whoever asks next hears of it.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }
}

/// Adds what the connection string does not say.
fn complete(config: &mut Config, settings: &Settings<'_>) -> Result<(), ConfigError> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(settings.variable("PGHOST").unwrap_or("localhost"));
    }
    if config.get_ports().is_empty()
        && let Some(port) = settings.variable("PGPORT")
    {
        let port = port.parse();
        config.port(port.map_err(|_| invalid("PGPORT", "is no port".to_owned()))?);
    }
    if config.get_user().is_none()
        && let Some(user) = settings.variable("PGUSER")
    {
        config.user(user);
    }
    if config.get_password().is_none()
        && let Some(password) = settings.variable("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_dbname().is_none()
        && let Some(database) = settings.variable("PGDATABASE")
    {
        config.dbname(database);
    }
    if config.get_application_name().is_none() {
        config.application_name("nivis");
    }
    config
        .connect_timeout(CONNECT_TIMEOUT)
        .keepalives_idle(KEEPALIVE);
    Ok(())
}

/// Sets how much the server has to prove. The modes are those of libpq, but `verify-ca` looks at the name too.
fn secrecy(
    config: &mut Config,
    mode: Option<&str>,
    authorities: Option<PathBuf>,
    settings: &Settings<'_>,
) -> Result<Tls, ConfigError> {
    let (ssl_mode, verify) = match mode {
        Some("disable") => (SslMode::Disable, false),
        None | Some("allow" | "prefer") => (SslMode::Prefer, authorities.is_some()),
        Some("require") => (SslMode::Require, authorities.is_some()),
        Some("verify-ca" | "verify-full") => (SslMode::Require, true),
        Some(other) => return Err(invalid("sslmode", format!("`{other}` is no mode"))),
    };
    config.ssl_mode(ssl_mode);
    let pem = match (verify, authorities) {
        (false, _) => None,
        (true, Some(path)) => {
            Some(fs::read(&path).map_err(|e| invalid("sslrootcert", e.to_string()))?)
        }
        (true, None) => Some(settings.network().certificates().unwrap_or_default()),
    };
    Tls::new(pem.as_deref()).map_err(|problem| invalid("sslrootcert", problem))
}

/// Takes a parameter out of a connection string, in either of its forms, and gives its value.
fn take_parameter(text: &str, name: &str) -> (String, Option<String>) {
    let mut found = None;
    let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
    let (head, parameters, separator) = match text.split_once('?') {
        Some((head, parameters)) if is_url => (Some(head), parameters, '&'),
        _ if is_url => (Some(text), "", '&'),
        _ => (None, text, ' '),
    };
    let kept: Vec<&str> = parameters
        .split(separator)
        .filter(|part| match part.split_once('=') {
            Some((key, value)) if key.trim() == name => {
                found = Some(value.trim().trim_matches('\'').to_owned());
                false
            }
            _ => true,
        })
        .collect();
    let kept = kept.join(&separator.to_string());
    let text = match head {
        Some(head) if kept.is_empty() => head.to_owned(),
        Some(head) => format!("{head}?{kept}"),
        None => kept,
    };
    (text, found)
}

/// The server and its database as a URL, without user and password.
fn server(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config
            .get_hostaddrs()
            .first()
            .map_or_else(String::new, ToString::to_string),
    };
    let port = config.get_ports().first().unwrap_or(&5432);
    let database = config
        .get_dbname()
        .or(config.get_user())
        .unwrap_or_default();
    format!("postgres://{host}:{port}/{database}")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn invalid(key: &str, problem: String) -> ConfigError {
    ConfigError::Invalid {
        key: key.to_owned(),
        problem,
    }
}

/// What happened, in the words of the server or the system.
pub(super) fn problem(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::take_parameter;

    #[test]
    fn parameters_are_taken_out() {
        let rows = [
            (
                "postgres://u:p@h/db?sslmode=verify-full&x=1",
                "postgres://u:p@h/db?x=1",
                Some("verify-full"),
            ),
            (
                "postgres://h/db?sslmode=require",
                "postgres://h/db",
                Some("require"),
            ),
            ("postgresql://h/db", "postgresql://h/db", None),
            (
                "host=h sslmode='require' user=u",
                "host=h user=u",
                Some("require"),
            ),
            ("", "", None),
        ];
        for (text, left, value) in rows {
            let expected = (left.to_owned(), value.map(str::to_owned));
            assert_eq!(take_parameter(text, "sslmode"), expected, "{text}");
        }
    }
}
