//! Starting a provider for a walk: its source and configuration resolved with the outputs at hand.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, ProviderDecl};
use crate::plan::resolve::{OutputMap, resolve};
use crate::provider::{Pool, Provider};
use crate::schema::conform;
use crate::value::Value;

/// A provider's source and configuration, not yet fitted to its schema.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Provider id.
    pub id: String,
    /// Where its program is.
    pub source: String,
    /// As written, references resolved.
    pub config: Value,
    /// What it is told with every call, as written.
    pub meta: Option<Value>,
}

impl Configuration {
    /// Resolves a declaration with the outputs at hand. Errors are addressed to `provider.<id>`.
    pub fn resolve(
        id: &str,
        decl: &ProviderDecl,
        outputs: &OutputMap,
    ) -> Result<Self, Diagnostics> {
        let at = |d: Diagnostics| addressed(d, id);
        let value = |expr| resolve(expr, outputs).map(|resolved| resolved.value);
        Ok(Self {
            id: id.to_owned(),
            source: source_text(id, &decl.source)?,
            config: value(&decl.config).map_err(at)?,
            meta: decl.meta.as_ref().map(value).transpose().map_err(at)?,
        })
    }
}

impl Configuration {
    /// A provider with nothing configured.
    pub fn unconfigured(id: &str, source: &str) -> Self {
        let nothing: [(&str, Value); 0] = [];
        Self {
            id: id.to_owned(),
            source: source.to_owned(),
            config: Value::object(nothing),
            meta: None,
        }
    }
}

/// The path or address behind a `source` expression.
pub fn source_text(id: &str, source: &Expr) -> Result<String, Diagnostics> {
    match source {
        Expr::String(s) => Ok(s.to_string()),
        Expr::Build(build) => Ok(build.path.clone()),
        _ => Err(addressed(
            Diagnostic::error("Invalid provider source")
                .detail("it must be known before anything is applied")
                .hint("write it as a plain string, or as a derivation")
                .into(),
            id,
        )),
    }
}

/// Starts and configures it, or finds it running with the same configuration. Errors are addressed to `provider.<id>`.
///
/// With it come the warnings nobody has seen yet.
pub async fn start(
    pool: &Pool,
    configuration: Configuration,
) -> Result<(Arc<dyn Provider>, Diagnostics), Diagnostics> {
    let Configuration {
        id,
        source,
        config,
        meta,
    } = configuration;
    let at = |d: Diagnostics| addressed(d, &id);
    let schema = pool.schema(&id, &source).await.map_err(at)?;
    let config = conform(&schema.provider.block, &config).map_err(at)?;
    let (mut provider, warnings) = pool.configured(&id, &source, &config).await.map_err(at)?;
    if let Some(meta) = meta {
        provider = provider.telling(&meta).map_err(at)?;
    }
    Ok((provider, at(warnings)))
}

fn addressed(diagnostics: Diagnostics, id: &str) -> Diagnostics {
    let mut all = Diagnostics::default();
    all.extend_at(diagnostics, &format!("provider.{id}"));
    all
}
