//! The work behind a step, ready to run: everything it needs is inside, so that steps share nothing while they run.

use std::sync::Arc;

use crate::addr::Id;
use crate::apply::executor::Realise;
use crate::apply::step::{self, MakeInput, Outcome};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Build, Lifecycle, Mode};
use crate::plan::data::Fitted;
use crate::plan::prior::{Prior, resource_schema};
use crate::plan::providers::{Configuration, start};
use crate::plan::removal::plan_removal;
use crate::plan::resolve::Resolved;
use crate::plan::{Change, ChangeTarget};
use crate::provider::{Pool, Provider};
use crate::schema::{ProviderSchema, conform, implied_type};
use crate::value::{PathSet, Value};

/// One step, ready to run.
pub(super) enum Work<'a> {
    /// Create, update or create the successor.
    Make {
        change: &'a Change,
        provider: Configuration,
        config: Resolved,
        builds: Vec<Build>,
        lifecycle: Lifecycle,
    },
    /// Destroy an object.
    Unmake {
        target: &'a ChangeTarget,
        provider: Configuration,
        prior: &'a Prior,
        private: Vec<u8>,
        /// Key of the deposed object, if it is one.
        deposed: Option<String>,
        /// It was deposed by an earlier run: the provider is asked again.
        replan: bool,
    },
    /// Read a data source, open an ephemeral resource or call a function.
    Read {
        id: &'a Id,
        mode: Mode,
        ty: &'a str,
        provider: Configuration,
        config: Resolved,
        builds: Vec<Build>,
    },
}

/// How a step ended.
pub(super) enum Done<'a> {
    /// A [`Work::Make`].
    Made {
        change: &'a Change,
        provider_source: String,
        /// Of the provider; none if it could not be started.
        schema: Option<Arc<ProviderSchema>>,
        sensitive: PathSet,
        outcome: Outcome,
    },
    /// A [`Work::Unmake`].
    Unmade {
        target: &'a ChangeTarget,
        deposed: Option<String>,
        schema: Option<Arc<ProviderSchema>>,
        outcome: Outcome,
    },
    /// A [`Work::Read`].
    Read {
        id: &'a Id,
        result: Result<(Value, PathSet, Diagnostics), Diagnostics>,
    },
}

pub(super) async fn run<'a>(work: Work<'a>, pool: &Pool, realise: Realise) -> Done<'a> {
    match work {
        Work::Make {
            change,
            provider,
            config,
            builds,
            lifecycle,
        } => {
            let provider_source = provider.source.clone();
            let mut sensitive = change.config_sensitive.clone();
            sensitive = sensitive.union(&config.sensitive);
            let (schema, outcome) = match ready(pool, provider, builds, realise).await {
                Ok(provider) => {
                    let outcome = make(&*provider, change, &config, &sensitive, &lifecycle).await;
                    (Some(Arc::clone(provider.schema())), outcome)
                }
                Err(diagnostics) => (None, Outcome::failed(diagnostics)),
            };
            Done::Made {
                change,
                provider_source,
                schema,
                sensitive,
                outcome,
            }
        }
        Work::Unmake {
            target,
            provider,
            prior,
            private,
            deposed,
            replan,
        } => {
            let (schema, outcome) = match start(pool, provider).await {
                Ok((provider, _)) => {
                    let outcome = unmake(&*provider, target, prior, private, replan).await;
                    (Some(Arc::clone(provider.schema())), outcome)
                }
                Err(diagnostics) => (None, Outcome::failed(diagnostics)),
            };
            Done::Unmade {
                target,
                deposed,
                schema,
                outcome,
            }
        }
        Work::Read {
            id,
            mode,
            ty,
            provider,
            config,
            builds,
        } => {
            let provider = match mode {
                Mode::Call => match built(builds, realise).await {
                    Ok(()) => pool.unconfigured(&provider.id, &provider.source).await,
                    Err(diagnostics) => Err(diagnostics),
                },
                Mode::Data | Mode::Ephemeral => ready(pool, provider, builds, realise).await,
            };
            let result = match provider {
                Ok(provider) => read(pool, &provider, (mode, ty, id), config).await,
                Err(diagnostics) => Err(diagnostics),
            };
            Done::Read { id, result }
        }
    }
}

/// The provider, once everything the configuration mentions is built.
async fn ready(
    pool: &Pool,
    provider: Configuration,
    builds: Vec<Build>,
    realise: Realise,
) -> Result<Arc<dyn Provider>, Diagnostics> {
    built(builds, realise).await?;
    start(pool, provider).await.map(|(provider, _)| provider)
}

async fn built(builds: Vec<Build>, realise: Realise) -> Result<(), Diagnostics> {
    if builds.is_empty() {
        return Ok(());
    }
    let built = tokio::task::spawn_blocking(move || realise(&builds)).await;
    built.map_err(|e| Diagnostic::error("Build failed").detail(e.to_string()))?
}

async fn make(
    provider: &dyn Provider,
    change: &Change,
    config: &Resolved,
    sensitive: &PathSet,
    lifecycle: &Lifecycle,
) -> Outcome {
    let fitted = resource_schema(provider, &change.target.ty).and_then(|schema| {
        conform(&schema.block, &config.value).map(|config| (&schema.block, config))
    });
    match fitted {
        Ok((block, config)) => {
            let config_sensitive = sensitive;
            step::make(MakeInput {
                provider,
                block,
                change,
                config: &config,
                config_sensitive,
                lifecycle,
            })
            .await
        }
        Err(diagnostics) => Outcome::failed(diagnostics),
    }
}

async fn unmake(
    provider: &dyn Provider,
    target: &ChangeTarget,
    prior: &Prior,
    mut private: Vec<u8>,
    replan: bool,
) -> Outcome {
    let block = match resource_schema(provider, &target.ty) {
        Ok(schema) => &schema.block,
        Err(diagnostics) => return Outcome::failed(diagnostics),
    };
    let mut warnings = Diagnostics::default();
    if replan {
        match plan_removal(provider, &target.ty, &implied_type(block), prior).await {
            Ok(planned) => (private, warnings) = planned,
            Err(diagnostics) => return Outcome::failed(diagnostics),
        }
    }
    let mut outcome = step::unmake(provider, &target.ty, block, prior, &private).await;
    outcome.diagnostics.extend(warnings);
    outcome
}

async fn read(
    pool: &Pool,
    provider: &Arc<dyn Provider>,
    (mode, ty, id): (Mode, &str, &Id),
    config: Resolved,
) -> Result<(Value, PathSet, Diagnostics), Diagnostics> {
    let fitted = Fitted::new(provider.schema(), mode, ty, config)?;
    if !fitted.config.is_wholly_known() {
        return Err(Diagnostic::error("Configuration is not known")
            .detail("something it refers to did not become known when it was applied")
            .into());
    }
    let (value, warnings) = fitted.read(pool, provider, id).await?;
    let sensitive = fitted.sensitive(&value);
    Ok((value, sensitive, warnings))
}
