//! Google Cloud Storage.

use std::sync::Arc;

use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};

use super::{Parts, Store, client, retry, store, unusable};
use crate::state::config::{ConfigError, Key, Settings};

pub(in super::super) const KEYS: &[Key] = &[
    ("bucket", &[]),
    ("key", &[]),
    (
        "credentials",
        &["GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"],
    ),
    ("access_token", &["GOOGLE_OAUTH_ACCESS_TOKEN"]),
    ("endpoint", &["STORAGE_EMULATOR_HOST"]),
    ("custom_ca_bundle", &[]),
];

const HINT: &str = "credentials go into GOOGLE_CREDENTIALS or GOOGLE_APPLICATION_CREDENTIALS, or come from the machine";

/// The store that the settings describe.
pub(in super::super) fn connect(settings: &Settings<'_>) -> Result<Box<dyn Store>, ConfigError> {
    let (bucket, key) = (settings.need("bucket")?, settings.need("key")?);
    let endpoint = settings.text("endpoint")?;
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&bucket)
        .with_client_options(client(settings, endpoint.as_deref(), "custom_ca_bundle")?)
        .with_retry(retry());
    let token = settings.text("access_token")?;
    let credentials = settings.text("credentials")?;
    // An emulator asks nobody who he is.
    let anonymous = endpoint.is_some() && token.is_none() && credentials.is_none();
    if let Some(url) = &endpoint {
        builder = builder.with_base_url(url).with_skip_signature(anonymous);
    }
    if let Some(token) = token {
        builder = builder.with_config(GoogleConfigKey::BearerToken, token);
    }
    builder = match credentials {
        Some(json) if json.trim_start().starts_with('{') => builder.with_service_account_key(json),
        Some(path) => builder.with_application_credentials(path),
        None => match settings.variable("GOOGLE_APPLICATION_CREDENTIALS") {
            Some(path) => builder.with_application_credentials(path),
            None => builder,
        },
    };
    let place = match &endpoint {
        Some(url) => format!("gs://{bucket}/{key} at {url}"),
        None => format!("gs://{bucket}/{key}"),
    };
    store(Parts {
        store: Arc::new(builder.build().map_err(|e| unusable(&e))?),
        key,
        place,
        hint: HINT,
    })
}
