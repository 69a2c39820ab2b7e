//! What a stack says about where its state is kept, and reading it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::backend::Backend;
use super::http;
use super::local::Local;
use super::object;
use super::pg;
use super::remote::{Remote, Store};
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::ir;
use crate::registry::Network;

/// Kind and settings of a backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendConfig {
    /// Such as `local` or `http`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Everything else.
    #[serde(default)]
    pub settings: Map<String, Json>,
}

impl Default for BackendConfig {
    /// What a stack has that says nothing: files on this machine.
    fn default() -> Self {
        Self {
            ty: LOCAL.to_owned(),
            settings: Map::new(),
        }
    }
}

impl From<&ir::Backend> for BackendConfig {
    fn from(declared: &ir::Backend) -> Self {
        let settings = declared.settings.iter();
        Self {
            ty: declared.ty.clone(),
            // Settings have no leaf markers: the parser saw to it.
            settings: settings
                .filter_map(|(name, value)| Some((name.to_string(), value.to_json()?)))
                .collect(),
        }
    }
}

/// What a backend needs to know besides its settings.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Folder of the stack on this machine: for a local state, and for what other states keep here.
    pub folder: &'a Path,
    /// What relative paths start from.
    pub working: &'a Path,
    /// Environment variables by name.
    pub environment: &'a BTreeMap<String, String>,
    /// How to reach servers.
    pub network: &'a Network,
    /// How many states from before the last runs a local state keeps.
    pub backups: u32,
}

/// Settings that make no backend.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such kind.
    #[error("there is no backend of the type `{ty}`")]
    UnknownType {
        /// What was asked for.
        ty: String,
    },
    /// No such setting.
    #[error("a backend of the type `{ty}` has no setting `{key}`")]
    UnknownKey {
        /// Which kind.
        ty: String,
        /// What was given.
        key: String,
        /// What it does have.
        known: Vec<&'static str>,
    },
    /// The setting is something else.
    #[error("`{key}`: expected {expected}")]
    Type {
        /// Which setting or environment variable.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A setting that must be there is not.
    #[error("`{key}` is missing")]
    Missing {
        /// Which setting.
        key: &'static str,
        /// Environment variables that may say it instead.
        variables: &'static [&'static str],
    },
    /// A setting or what it names cannot be used.
    #[error("`{key}`: {problem}")]
    Invalid {
        /// Which setting.
        key: String,
        /// What is wrong.
        problem: String,
    },
}

impl From<ConfigError> for Diagnostics {
    fn from(error: ConfigError) -> Self {
        let diagnostic = Diagnostic::error("Invalid backend").detail(error.to_string());
        match error {
            ConfigError::UnknownType { ty } => match nearest(&ty, names()) {
                Some(name) => diagnostic.hint(format!("did you mean `{name}`?")),
                None => diagnostic.hint(format!(
                    "there are {}",
                    names().collect::<Vec<_>>().join(", ")
                )),
            },
            ConfigError::UnknownKey { key, known, .. } => match nearest(&key, known.clone()) {
                Some(name) => diagnostic.hint(format!("did you mean `{name}`?")),
                None => diagnostic.hint(format!("it has {}", known.join(", "))),
            },
            ConfigError::Missing { variables, .. } if !variables.is_empty() => {
                diagnostic.hint(format!("or set {}", variables.join(" or ")))
            }
            _ => diagnostic,
        }
        .into()
    }
}

/// A setting: its name, and the environment variables that say it where the stack does not, the first one first.
pub type Key = (&'static str, &'static [&'static str]);

/// A kind of backend.
pub struct Kind {
    /// What `type` says.
    pub name: &'static str,
    /// All settings there are.
    pub keys: &'static [Key],
    connect: Connect,
}

enum Connect {
    Local,
    Store(fn(&Settings<'_>) -> Result<Box<dyn Store>, ConfigError>),
}

const LOCAL: &str = "local";

/// Every kind of backend that a stack can name (docs/reference/backends.md).
pub const KINDS: &[Kind] = &[
    Kind {
        name: LOCAL,
        keys: &[("path", &[])],
        connect: Connect::Local,
    },
    Kind {
        name: "http",
        keys: http::KEYS,
        connect: Connect::Store(http::connect),
    },
    Kind {
        name: "pg",
        keys: pg::KEYS,
        connect: Connect::Store(pg::connect),
    },
    Kind {
        name: "s3",
        keys: object::S3_KEYS,
        connect: Connect::Store(object::s3),
    },
    Kind {
        name: "gcs",
        keys: object::GCS_KEYS,
        connect: Connect::Store(object::gcs),
    },
    Kind {
        name: "azure",
        keys: object::AZURE_KEYS,
        connect: Connect::Store(object::azure),
    },
];

fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// The backend that these settings describe. Reaches for nothing yet.
pub fn connect(
    config: &BackendConfig,
    surroundings: Surroundings<'_>,
) -> Result<Box<dyn Backend>, ConfigError> {
    let kind = KINDS.iter().find(|kind| kind.name == config.ty);
    let kind = kind.ok_or_else(|| ConfigError::UnknownType {
        ty: config.ty.clone(),
    })?;
    let settings = Settings {
        kind,
        values: &config.settings,
        surroundings,
    };
    settings.check()?;
    let folder = surroundings.folder;
    match kind.connect {
        Connect::Store(connect) => Ok(Box::new(Remote::new(connect(&settings)?, folder))),
        Connect::Local => {
            let local = match settings.text("path")? {
                Some(path) => Local::new(&surroundings.working.join(path)),
                None => Local::new(folder),
            };
            Ok(Box::new(local.keeping(surroundings.backups)))
        }
    }
}

/// The settings of one backend.
pub(super) struct Settings<'a> {
    kind: &'a Kind,
    values: &'a Map<String, Json>,
    surroundings: Surroundings<'a>,
}

impl Settings<'_> {
    /// Whether there are only settings of this kind.
    fn check(&self) -> Result<(), ConfigError> {
        let known = || self.kind.keys.iter().map(|(name, _)| *name);
        match self.values.keys().find(|key| !known().any(|k| k == *key)) {
            None => Ok(()),
            Some(key) => Err(ConfigError::UnknownKey {
                ty: self.kind.name.to_owned(),
                key: key.clone(),
                known: known().collect(),
            }),
        }
    }

    fn variables(&self, key: &str) -> &'static [&'static str] {
        let found = self.kind.keys.iter().find(|(name, _)| *name == key);
        found.map_or(&[], |(_, variables)| *variables)
    }

    /// What the environment says of a setting, and which variable.
    fn environment_says(&self, key: &str) -> Option<(&'static str, &str)> {
        let environment = self.surroundings.environment;
        let named = |name: &&'static str| Some((*name, environment.get(*name)?.as_str()));
        self.variables(key).iter().find_map(named)
    }

    /// An environment variable that is no setting.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.surroundings.environment.get(name).map(String::as_str)
    }

    /// How to reach servers.
    pub(super) fn network(&self) -> &Network {
        self.surroundings.network
    }

    /// A string.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.values.get(key) {
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(Json::Null) | None => Ok(self.environment_says(key).map(|(_, t)| t.to_owned())),
            Some(_) => Err(wrong(key, "a string")),
        }
    }

    /// A string that must be there.
    pub(super) fn need(&self, key: &'static str) -> Result<String, ConfigError> {
        self.text(key)?
            .filter(|text| !text.is_empty())
            .ok_or_else(|| ConfigError::Missing {
                key,
                variables: self.variables(key),
            })
    }

    /// `true` or `false`; false if nothing is said.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ConfigError> {
        Ok(self.choice(key)?.unwrap_or_default())
    }

    /// `true` or `false`, if anything is said.
    pub(super) fn choice(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        const EXPECTED: &str = "true or false";
        match (self.values.get(key), self.environment_says(key)) {
            (Some(Json::Bool(flag)), _) => Ok(Some(*flag)),
            (Some(Json::Null) | None, None) => Ok(None),
            (Some(Json::Null) | None, Some((variable, text))) => match text {
                "true" | "1" => Ok(Some(true)),
                "false" | "0" => Ok(Some(false)),
                _ => Err(wrong(variable, EXPECTED)),
            },
            (Some(_), _) => Err(wrong(key, EXPECTED)),
        }
    }

    /// A whole number.
    pub(super) fn number(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        const EXPECTED: &str = "a whole number";
        let (name, text) = match (self.values.get(key), self.environment_says(key)) {
            (Some(Json::Number(number)), _) => (key, number.to_string()),
            (Some(Json::Null) | None, None) => return Ok(None),
            (Some(Json::Null) | None, Some((variable, text))) => (variable, text.to_owned()),
            (Some(_), _) => return Err(wrong(key, EXPECTED)),
        };
        let number = text.parse().map_err(|_| wrong(name, EXPECTED))?;
        Ok(Some(number))
    }

    /// An object of strings; empty if there is none.
    pub(super) fn texts(&self, key: &str) -> Result<BTreeMap<String, String>, ConfigError> {
        const EXPECTED: &str = "an object of strings";
        match self.values.get(key) {
            Some(Json::Object(members)) => {
                let member = |(name, value): (&String, &Json)| {
                    Some((name.clone(), value.as_str()?.to_owned()))
                };
                let texts = members.iter().map(member).collect::<Option<_>>();
                texts.ok_or_else(|| wrong(key, EXPECTED))
            }
            Some(Json::Null) | None => Ok(BTreeMap::new()),
            Some(_) => Err(wrong(key, EXPECTED)),
        }
    }
}

fn wrong(key: &str, expected: &'static str) -> ConfigError {
    ConfigError::Type {
        key: key.to_owned(),
        expected,
    }
}
