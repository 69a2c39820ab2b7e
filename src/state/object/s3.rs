//! S3, and servers that speak like it.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;

use super::{Parts, Store, client, retry, store, unusable};
use crate::state::config::{ConfigError, Key, Settings};

pub(in super::super) const KEYS: &[Key] = &[
    ("bucket", &[]),
    ("key", &[]),
    ("region", &["AWS_REGION", "AWS_DEFAULT_REGION"]),
    ("endpoint", &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]),
    ("use_path_style", &[]),
    ("access_key", &["AWS_ACCESS_KEY_ID"]),
    ("secret_key", &["AWS_SECRET_ACCESS_KEY"]),
    ("token", &["AWS_SESSION_TOKEN"]),
    ("encrypt", &[]),
    ("kms_key_id", &[]),
    ("custom_ca_bundle", &["AWS_CA_BUNDLE"]),
];

/// The environment variables by which a machine or a pipeline says who it is.
const IDENTITY: &[&str] = &[
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ENDPOINT_URL_STS",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_METADATA_ENDPOINT",
];

const HINT: &str = "credentials go into AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or come from the \
                    role of the machine";

/// The store that the settings describe.
pub(in super::super) fn connect(settings: &Settings<'_>) -> Result<Box<dyn Store>, ConfigError> {
    let (bucket, key) = (settings.need("bucket")?, settings.need("key")?);
    let endpoint = settings.text("endpoint")?;
    let path_style = settings
        .choice("use_path_style")?
        .unwrap_or(endpoint.is_some());
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&bucket)
        .with_virtual_hosted_style_request(!path_style)
        .with_client_options(client(settings, endpoint.as_deref(), "custom_ca_bundle")?)
        .with_retry(retry());
    for name in IDENTITY {
        if let (Some(value), Ok(key)) = (settings.variable(name), name.to_lowercase().parse()) {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(region) = settings.text("region")? {
        builder = builder.with_region(region);
    }
    if let Some(key) = settings.text("access_key")? {
        builder = builder
            .with_access_key_id(key)
            .with_secret_access_key(settings.need("secret_key")?);
    }
    if let Some(token) = settings.text("token")? {
        builder = builder.with_token(token);
    }
    if let Some(url) = &endpoint {
        builder = builder.with_endpoint(match url.split_once("://") {
            Some((scheme, host)) if !path_style => format!("{scheme}://{bucket}.{host}"),
            _ => url.clone(),
        });
    }
    builder = match (settings.flag("encrypt")?, settings.text("kms_key_id")?) {
        (_, Some(id)) => builder.with_sse_kms_encryption(id),
        (true, None) => match "aws_server_side_encryption".parse() {
            Ok(key) => builder.with_config(key, "AES256"),
            Err(error) => return Err(unusable(&error)),
        },
        // Some policies allow no header at all.
        (false, None) => builder,
    };
    let place = match &endpoint {
        Some(url) => format!("s3://{bucket}/{key} at {url}"),
        None => format!("s3://{bucket}/{key}"),
    };
    store(Parts {
        store: Arc::new(builder.build().map_err(|e| unusable(&e))?),
        key,
        place,
        hint: HINT,
    })
}
