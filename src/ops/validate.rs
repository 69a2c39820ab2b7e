//! Check a configuration without state and without touching the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{DataSource, Ir, Resource};
use crate::plan::data::{self, Fitted};
use crate::plan::moves;
use crate::plan::outputs::stack_outputs;
use crate::plan::prior::resource_schema;
use crate::plan::providers::{Configuration, source_text};
use crate::plan::resolve::{OutputMap, Outputs, resolve, variables};
use crate::plan::{check_ignored, ephemeral, fitted};
use crate::provider::{Pool, Provider};
use crate::schema::{Block, conform, deprecations, implied_type, sensitive_paths};
use crate::value::{Type, Value};

/// Checks every configuration against its provider's schema and asks the provider itself, everything that only apply will
/// tell being unknown. Gives the warnings, or all errors.
pub async fn validate(ir: &Ir, pool: &Pool) -> Result<Diagnostics, Diagnostics> {
    let mut found = moves::check(ir);
    let outputs = shapes(ir, pool, &mut found).await;
    for (id, decl) in &ir.providers {
        let checked = match Configuration::resolve(id, decl, &outputs) {
            Ok(configuration) => provider(pool, configuration).await,
            Err(problems) => Err(problems),
        };
        found.extend_at(
            checked.unwrap_or_else(|problems| problems),
            &format!("provider.{id}"),
        );
    }
    let opened = ephemeral::opened(ir);
    for resource in &ir.resources {
        let checked = managed(ir, pool, &outputs, &opened, resource).await;
        found.extend_at(
            checked.unwrap_or_else(|problems| problems),
            resource.id.as_str(),
        );
    }
    for source in &ir.data_sources {
        let checked = read(ir, pool, &outputs, source).await;
        found.extend_at(
            checked.unwrap_or_else(|problems| problems),
            source.id.as_str(),
        );
    }
    for import in &ir.imports {
        if let Err(problems) = resolve(&import.id, &outputs) {
            found.extend_at(problems, import.to.as_str());
        }
    }
    found.extend(stack_outputs(ir, &outputs).1);
    found.into_result()
}

async fn provider(pool: &Pool, configuration: Configuration) -> Result<Diagnostics, Diagnostics> {
    let plugin = pool
        .unconfigured(&configuration.id, &configuration.source)
        .await?;
    let block = &plugin.schema().provider.block;
    let config = conform(block, &configuration.config)?;
    let mut warnings = deprecations(block, &config);
    warnings.extend(plugin.validate_config(&config).await?);
    if let Some(meta) = &configuration.meta {
        plugin.telling(meta)?;
    }
    Ok(warnings)
}

/// A process of a provider; none if it is missing or does not start, which was reported with its configuration.
async fn plugin(ir: &Ir, pool: &Pool, id: &str) -> Option<Arc<dyn Provider>> {
    let source = source_text(id, &ir.providers.get(id)?.source).ok()?;
    pool.unconfigured(id, &source).await.ok()
}

async fn managed(
    ir: &Ir,
    pool: &Pool,
    outputs: &OutputMap,
    opened: &BTreeSet<&Id>,
    resource: &Resource,
) -> Result<Diagnostics, Diagnostics> {
    let Some(plugin) = plugin(ir, pool, &resource.provider).await else {
        return Ok(Diagnostics::default());
    };
    let block = &resource_schema(&*plugin, &resource.ty)?.block;
    ephemeral::check(opened, block, &resource.config)?;
    let (config, _) = fitted(block, &resource.config, &resource.meta, outputs)?;
    let mut warnings = deprecations(block, &config);
    let ignore = &resource.meta.lifecycle.ignore_changes;
    warnings.extend(check_ignored(block, ignore).into_result()?);
    warnings.extend(plugin.validate_resource(&resource.ty, &config).await?);
    Ok(warnings)
}

async fn read(
    ir: &Ir,
    pool: &Pool,
    outputs: &OutputMap,
    source: &DataSource,
) -> Result<Diagnostics, Diagnostics> {
    let Some(plugin) = plugin(ir, pool, &source.provider).await else {
        return Ok(Diagnostics::default());
    };
    let given = resolve(&source.config, outputs)?;
    let fitted = Fitted::new(plugin.schema(), source.mode, &source.ty, given)?;
    fitted.validate(&*plugin).await
}

/// For every object one of the right shape in which all that the provider may compute is unknown, so that references to
/// attributes that do not exist are found.
async fn shapes(ir: &Ir, pool: &Pool, found: &mut Diagnostics) -> OutputMap {
    let mut schemas = BTreeMap::new();
    let asked = ir.providers.iter().filter_map(|(id, decl)| {
        let source = source_text(id, &decl.source).ok()?;
        Some(async move { (id, pool.schema(id, &source).await) })
    });
    for (id, schema) in join_all(asked).await {
        match schema {
            Ok(schema) => drop(schemas.insert(id.as_str(), schema)),
            Err(problems) => found.extend_at(problems, &format!("provider.{id}")),
        }
    }
    let mut outputs: OutputMap = variables(ir).into_iter().collect();
    for r in &ir.resources {
        let schema = schemas.get(r.provider.as_str());
        if let Some(schema) = schema.and_then(|s| s.resources.get(&r.ty)) {
            outputs.insert(
                r.id.clone(),
                shape(implied_type(&schema.block), Some(&schema.block)),
            );
        }
    }
    for d in &ir.data_sources {
        let schema = schemas.get(d.provider.as_str());
        if let Some((ty, block)) = schema.and_then(|s| data::shape(s, d.mode, &d.ty)) {
            outputs.insert(d.id.clone(), shape(ty, block));
        }
    }
    outputs
}

fn shape(ty: Type, block: Option<&Block>) -> Outputs {
    let value = match ty {
        Type::Object(ty) => Value::object(
            ty.attributes
                .iter()
                .map(|(name, ty)| (name.clone(), Value::unknown(ty.clone()))),
        ),
        other => Value::unknown(other),
    };
    let sensitive = block.map(|block| sensitive_paths(block, &value));
    let sensitive = sensitive.unwrap_or_default();
    Outputs { value, sensitive }
}
