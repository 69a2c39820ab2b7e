//! What is read: data sources, ephemeral resources, results of functions. Fitting the configuration, reading, and what
//! is certain before it can be read.

use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{DataSource, Mode};
use crate::plan::prior::{known_type, unknown_type};
use crate::plan::propose::planned_unknown;
use crate::plan::resolve::{OutputMap, Resolved, resolve};
use crate::provider::{Pool, Provider};
use crate::schema::{
    Block, Function, Parameter, ProviderSchema, conform, implied_type, sensitive_paths,
};
use crate::value::{Path, PathSet, Type, Value, convert};

/// One thing to read, its configuration made to fit.
#[derive(Clone, Debug)]
pub struct Fitted<'a> {
    what: What<'a>,
    ty: &'a str,
    /// The configuration; for a call the tuple of its arguments.
    pub config: Value,
    /// Sensitive paths of the configuration.
    sensitive: PathSet,
}

#[derive(Clone, Copy, Debug)]
enum What<'a> {
    Data(&'a Block),
    Ephemeral(&'a Block),
    Call(&'a Function),
}

/// The configuration of what is read, with what is sensitive in it.
pub fn given(source: &DataSource, outputs: &OutputMap) -> Result<Resolved, Diagnostics> {
    let mut given = resolve(&source.config, outputs)?;
    given
        .sensitive
        .extend(source.meta.sensitive.iter().cloned());
    Ok(given)
}

impl<'a> Fitted<'a> {
    /// Makes a configuration fit. Errors are about the configuration, or name the provider's nearest type.
    pub fn new(
        schema: &'a ProviderSchema,
        mode: Mode,
        ty: &'a str,
        given: Resolved,
    ) -> Result<Self, Diagnostics> {
        let what = match mode {
            Mode::Data => {
                What::Data(&known_type(&schema.data_sources, ty, "data source type")?.block)
            }
            Mode::Ephemeral => {
                let types = &schema.ephemeral_resources;
                What::Ephemeral(&known_type(types, ty, "ephemeral resource type")?.block)
            }
            Mode::Call => {
                let functions = &schema.functions;
                let unknown = || unknown_type("function", ty, functions.keys());
                What::Call(functions.get(ty).ok_or_else(unknown)?)
            }
        };
        let config = match what {
            What::Data(block) | What::Ephemeral(block) => conform(block, &given.value)?,
            What::Call(function) => arguments(function, &given.value)?,
        };
        Ok(Self {
            what,
            ty,
            config,
            sensitive: given.sensitive,
        })
    }

    /// Whether everything is known that must be to read it.
    pub fn is_ready(&self) -> bool {
        match (self.what, &self.config) {
            (What::Call(function), Value::Tuple(items)) => {
                let mut each = function.parameters_of(items.len()).zip(items.iter());
                each.all(|(p, item)| p.allow_unknown || item.is_wholly_known())
            }
            _ => self.config.is_wholly_known(),
        }
    }

    /// Lets the provider look at a configuration that is not ready yet; gives warnings.
    pub async fn validate(&self, provider: &dyn Provider) -> Result<Diagnostics, Diagnostics> {
        match self.what {
            What::Data(_) => provider.validate_data(self.ty, &self.config).await,
            What::Ephemeral(_) => provider.validate_ephemeral(self.ty, &self.config).await,
            What::Call(_) => Ok(Diagnostics::default()),
        }
    }

    /// What is certain of the object before it is read.
    pub fn planned(&self) -> Value {
        match self.what {
            What::Data(block) | What::Ephemeral(block) => planned_unknown(block, &self.config),
            What::Call(function) => result(Value::unknown(function.returns.clone())),
        }
    }

    /// Validates and reads; gives the object and warnings. An ephemeral resource stays open, under its `id`.
    pub async fn read(
        &self,
        pool: &Pool,
        provider: &Arc<dyn Provider>,
        id: &Id,
    ) -> Result<(Value, Diagnostics), Diagnostics> {
        match (self.what, &self.config) {
            (What::Call(_), Value::Tuple(items)) => {
                let value = provider.call(self.ty, items).await?;
                return Ok((result(value), Diagnostics::default()));
            }
            (What::Ephemeral(_), config) => {
                let mut warnings = self.validate(&**provider).await?;
                let (value, more) = pool.open(provider, id.as_str(), self.ty, config).await?;
                warnings.extend(more);
                return Ok((value, warnings));
            }
            _ => {}
        }
        let mut warnings = self.validate(&**provider).await?;
        let (value, more) = provider.read_data(self.ty, &self.config).await?;
        warnings.extend(more);
        Ok((value, warnings))
    }

    /// Sensitive paths of the object, read or planned.
    pub fn sensitive(&self, object: &Value) -> PathSet {
        match self.what {
            What::Data(block) => self.sensitive.union(&sensitive_paths(block, object)),
            // All of it: the provider chose not to let it be stored.
            What::Ephemeral(block) => {
                let names = block.attributes.keys().chain(block.block_types.keys());
                names
                    .map(|name| Path::root().attribute(name.clone()))
                    .collect()
            }
            What::Call(_) if self.sensitive.is_empty() => PathSet::default(),
            What::Call(_) => std::iter::once(Path::root().attribute("result")).collect(),
        }
    }
}

fn result(value: Value) -> Value {
    Value::object([("result", value)])
}

/// The arguments, each converted to the type of its parameter.
fn arguments(function: &Function, given: &Value) -> Result<Value, Diagnostics> {
    let Value::Tuple(given) = given else {
        return Err(Diagnostic::error("Invalid function call")
            .detail("the arguments must be a list")
            .into());
    };
    let wanted = function.parameters.len();
    if given.len() < wanted || given.len() > wanted && function.variadic.is_none() {
        let more = if function.variadic.is_some() {
            " or more"
        } else {
            ""
        };
        let detail = format!("it takes {wanted}{more} arguments, {} given", given.len());
        return Err(Diagnostic::error("Wrong number of arguments")
            .detail(detail)
            .into());
    }
    let mut problems = Diagnostics::default();
    let mut converted = Vec::new();
    for (i, (parameter, value)) in (0..).zip(function.parameters_of(given.len()).zip(given.iter()))
    {
        match argument(parameter, value) {
            Ok(value) => converted.push(value),
            Err(mut problem) => {
                let inner = problem.path.take().unwrap_or_else(Path::root);
                problems.push(problem.path(Path::root().index(i).join(&inner)));
            }
        }
    }
    problems.into_result()?;
    Ok(Value::tuple(converted))
}

fn argument(parameter: &Parameter, value: &Value) -> Result<Value, Box<Diagnostic>> {
    let name = &parameter.name;
    let wrong = |at: Path, what: &str| {
        let detail = format!("argument `{name}`: {what}");
        let problem = Diagnostic::error("Invalid function argument").detail(detail);
        Box::new(problem.path(at))
    };
    let value =
        convert(value, &parameter.ty).map_err(|e| wrong(e.path.clone(), &e.kind.to_string()))?;
    if value.is_null() && !parameter.allow_null {
        return Err(wrong(Path::root(), "it cannot be null"));
    }
    Ok(value)
}

/// The type of what will be read, and its block if it has one.
pub fn shape<'a>(
    schema: &'a ProviderSchema,
    mode: Mode,
    ty: &str,
) -> Option<(Type, Option<&'a Block>)> {
    let block = match mode {
        Mode::Data => &schema.data_sources.get(ty)?.block,
        Mode::Ephemeral => &schema.ephemeral_resources.get(ty)?.block,
        Mode::Call => {
            let returns = schema.functions.get(ty)?.returns.clone();
            return Some((Type::object([("result", returns)]), None));
        }
    };
    Some((implied_type(block), Some(block)))
}
