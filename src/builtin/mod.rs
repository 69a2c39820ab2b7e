//! The provider inside nivis, served over the real protocol: nivis runs itself under the provider's name.
//!
//! [`ProviderServer`], [`serve`], [`message`] and [`object`] are of use to any provider; the rest is the provider `builtin`.

mod data;
mod draw;
mod file;
pub mod message;
pub mod object;
mod protocol5;
mod provider;
mod random;
mod resource;
mod rpc;
mod serve;
mod words;

use std::ffi::OsStr;
use std::path::Path;

pub use provider::Builtin;
pub use rpc::ProviderServer;
pub use serve::{HostEnvironment, ServeError, serve};

use crate::provider::BUILTIN_ARGV0;

/// Whether a program started under this name (its first argument) is to be the provider: [`BUILTIN_ARGV0`], which a
/// version may follow.
///
/// # Examples
///
/// ```
/// use nivis::builtin::is_provider;
///
/// assert!(is_provider("/opt/terraform-provider-builtin_v0.1.0".as_ref()));
/// assert!(!is_provider("/usr/bin/nivis".as_ref()));
/// ```
pub fn is_provider(argv0: &OsStr) -> bool {
    let name = Path::new(argv0).file_name().and_then(OsStr::to_str);
    let rest = name.and_then(|name| name.strip_prefix(BUILTIN_ARGV0));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}

/// Serves the provider `builtin` to the host that started this process, until the host asks for the end or is gone.
pub async fn serve_builtin(environment: &HostEnvironment) -> Result<(), ServeError> {
    serve(Builtin::default(), &[6], environment).await
}
