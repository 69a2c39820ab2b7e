//! Check a configuration without state and without touching the world.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostics;
use crate::ir::{Expr, Ir, Meta};
use crate::plan::fitted;
use crate::plan::outputs::stack_outputs;
use crate::plan::prior::{data_schema, resource_schema};
use crate::plan::providers::{Configuration, source_text};
use crate::plan::resolve::{OutputMap, Outputs};
use crate::provider::Pool;
use crate::schema::{Block, conform, deprecations, implied_type, sensitive_paths};
use crate::value::{Type, Value};

/// Checks every configuration against its provider's schema and asks the provider itself, everything that only apply will
/// tell being unknown. Gives the warnings, or all errors.
pub async fn validate(ir: &Ir, pool: &Pool) -> Result<Diagnostics, Diagnostics> {
    let mut found = Diagnostics::default();
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
    for resource in &ir.resources {
        let node = Node {
            resource: true,
            provider: &resource.provider,
            ty: &resource.ty,
        };
        let checked = node
            .check(ir, pool, &outputs, (&resource.config, &resource.meta))
            .await;
        found.extend_at(
            checked.unwrap_or_else(|problems| problems),
            resource.id.as_str(),
        );
    }
    for source in &ir.data_sources {
        let node = Node {
            resource: false,
            provider: &source.provider,
            ty: &source.ty,
        };
        let checked = node
            .check(ir, pool, &outputs, (&source.config, &source.meta))
            .await;
        found.extend_at(
            checked.unwrap_or_else(|problems| problems),
            source.id.as_str(),
        );
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
    Ok(warnings)
}

struct Node<'a> {
    resource: bool,
    provider: &'a str,
    ty: &'a str,
}

impl Node<'_> {
    async fn check(
        &self,
        ir: &Ir,
        pool: &Pool,
        outputs: &OutputMap,
        (config, meta): (&Expr, &Meta),
    ) -> Result<Diagnostics, Diagnostics> {
        // A provider that is missing or does not start was reported when its configuration was checked.
        let Some(decl) = ir.providers.get(self.provider) else {
            return Ok(Diagnostics::default());
        };
        let Ok(source) = source_text(self.provider, &decl.source) else {
            return Ok(Diagnostics::default());
        };
        let Ok(plugin) = pool.unconfigured(self.provider, &source).await else {
            return Ok(Diagnostics::default());
        };
        let schema = if self.resource {
            resource_schema(&*plugin, self.ty)?
        } else {
            data_schema(&*plugin, self.ty)?
        };
        let (config, _) = fitted(&schema.block, config, meta, outputs)?;
        let mut warnings = deprecations(&schema.block, &config);
        warnings.extend(if self.resource {
            plugin.validate_resource(self.ty, &config).await?
        } else {
            plugin.validate_data(self.ty, &config).await?
        });
        Ok(warnings)
    }
}

/// For every object one of the right shape in which all that the provider may compute is unknown, so that references to
/// attributes that do not exist are found.
async fn shapes(ir: &Ir, pool: &Pool, found: &mut Diagnostics) -> OutputMap {
    let mut schemas = BTreeMap::new();
    for (id, decl) in &ir.providers {
        let Ok(source) = source_text(id, &decl.source) else {
            continue;
        };
        match pool.schema(id, &source).await {
            Ok(schema) => drop(schemas.insert(id.as_str(), schema)),
            Err(problems) => found.extend_at(problems, &format!("provider.{id}")),
        }
    }
    let mut outputs = OutputMap::new();
    let resources = ir
        .resources
        .iter()
        .map(|r| (&r.id, &r.provider, &r.ty, true));
    let data = ir
        .data_sources
        .iter()
        .map(|d| (&d.id, &d.provider, &d.ty, false));
    for (id, provider, ty, managed) in resources.chain(data) {
        let Some(schema) = schemas.get(provider.as_str()) else {
            continue;
        };
        let types = if managed {
            &schema.resources
        } else {
            &schema.data_sources
        };
        if let Some(schema) = types.get(ty) {
            outputs.insert(id.clone(), shape(&schema.block));
        }
    }
    outputs
}

fn shape(block: &Block) -> Outputs {
    let value = match implied_type(block) {
        Type::Object(ty) => Value::object(
            ty.attributes
                .iter()
                .map(|(name, ty)| (name.clone(), Value::unknown(ty.clone()))),
        ),
        other => Value::unknown(other),
    };
    let sensitive = sensitive_paths(block, &value);
    Outputs { value, sensitive }
}
