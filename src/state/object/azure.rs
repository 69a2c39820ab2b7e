//! Azure Blob Storage.

use std::sync::Arc;

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::{Parts, Store, client, retry, store, unusable};
use crate::state::config::{ConfigError, Key, Settings};

pub(in super::super) const KEYS: &[Key] = &[
    ("storage_account_name", &["AZURE_STORAGE_ACCOUNT_NAME"]),
    ("container_name", &[]),
    ("key", &[]),
    ("endpoint", &["AZURE_STORAGE_ENDPOINT"]),
    (
        "access_key",
        &["ARM_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY"],
    ),
    ("sas_token", &["ARM_SAS_TOKEN", "AZURE_STORAGE_SAS_TOKEN"]),
    ("client_id", &["ARM_CLIENT_ID", "AZURE_CLIENT_ID"]),
    (
        "client_secret",
        &["ARM_CLIENT_SECRET", "AZURE_CLIENT_SECRET"],
    ),
    ("tenant_id", &["ARM_TENANT_ID", "AZURE_TENANT_ID"]),
    ("custom_ca_bundle", &[]),
];

/// The environment variables by which a machine or a pipeline says who it is.
const IDENTITY: &[&str] = &[
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_AUTHORITY_HOST",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
    "AZURE_USE_AZURE_CLI",
];

const HINT: &str = "credentials go into ARM_ACCESS_KEY, ARM_SAS_TOKEN or ARM_CLIENT_ID, ARM_CLIENT_SECRET and ARM_TENANT_ID, \
                    or come from the machine";

/// The store that the settings describe.
pub(in super::super) fn connect(settings: &Settings<'_>) -> Result<Box<dyn Store>, ConfigError> {
    let account = settings.need("storage_account_name")?;
    let (container, key) = (settings.need("container_name")?, settings.need("key")?);
    let endpoint = settings.text("endpoint")?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(&account)
        .with_container_name(&container)
        .with_client_options(client(settings, endpoint.as_deref(), "custom_ca_bundle")?)
        .with_retry(retry());
    for name in IDENTITY {
        if let (Some(value), Ok(key)) = (settings.variable(name), name.to_lowercase().parse()) {
            builder = builder.with_config(key, value);
        }
    }
    for (setting, key) in [
        ("endpoint", AzureConfigKey::Endpoint),
        ("access_key", AzureConfigKey::AccessKey),
        ("sas_token", AzureConfigKey::SasKey),
        ("client_id", AzureConfigKey::ClientId),
        ("client_secret", AzureConfigKey::ClientSecret),
        ("tenant_id", AzureConfigKey::AuthorityId),
    ] {
        if let Some(value) = settings.text(setting)? {
            builder = builder.with_config(key, value);
        }
    }
    let place = match &endpoint {
        Some(url) => format!("azure://{account}/{container}/{key} at {url}"),
        None => format!("azure://{account}/{container}/{key}"),
    };
    store(Parts {
        store: Arc::new(builder.build().map_err(|e| unusable(&e))?),
        key,
        place,
        hint: HINT,
    })
}
