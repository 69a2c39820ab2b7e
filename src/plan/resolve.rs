//! Configuration expressions to values: references looked up, templates concatenated, what is not known yet unknown.

use std::collections::BTreeMap;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Derived, Expr, Ir, Ref, VARIABLES, Variable};
use crate::value::{Path, PathSet, Refinement, Step, Str, Type, Unknown, Value};

/// What one object shows to the configuration of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// The object: planned (with unknowns) while planning, real while applying.
    pub value: Value,
    /// Its sensitive paths, by schema and by configuration.
    pub sensitive: PathSet,
}

/// Outputs by resource or data source id. An id that is missing is not planned yet, or failed: everything in it is unknown.
pub type OutputMap = BTreeMap<Id, Outputs>;

/// An evaluated expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Objects for Nix attribute sets, tuples for Nix lists; no schema applied yet.
    pub value: Value,
    /// Paths inside `value` that came from sensitive outputs.
    pub sensitive: PathSet,
}

/// Evaluates `expr` with the outputs at hand. All bad references are reported, each with its place in the expression.
pub fn resolve(expr: &Expr, outputs: &OutputMap) -> Result<Resolved, Diagnostics> {
    let mut resolver = Resolver {
        outputs,
        sensitive: PathSet::default(),
        diagnostics: Diagnostics::default(),
    };
    let value = resolver.expr(expr, &Path::root());
    if resolver.diagnostics.has_errors() {
        return Err(resolver.diagnostics);
    }
    Ok(Resolved {
        value,
        sensitive: resolver.sensitive,
    })
}

/// The executor's own object: the sensitive variables, if there are any.
pub fn variables(ir: &Ir) -> Option<(Id, Outputs)> {
    let secrets = ir.variables.iter().filter(|(_, v)| v.sensitive);
    let known = |v: &Variable| v.secret.as_ref().map(|hidden| hidden.0.clone());
    let attributes: Vec<(&str, Value)> = secrets
        .map(|(name, v)| {
            let unknown = || Value::unknown(v.ty.clone().unwrap_or(Type::Dynamic));
            (name.as_str(), known(v).unwrap_or_else(unknown))
        })
        .collect();
    if attributes.is_empty() {
        return None;
    }
    let sensitive = attributes
        .iter()
        .map(|(name, _)| Path::root().attribute(*name))
        .collect();
    let value = Value::object(attributes);
    Some((Id::from(VARIABLES), Outputs { value, sensitive }))
}

struct Resolver<'a> {
    outputs: &'a OutputMap,
    sensitive: PathSet,
    diagnostics: Diagnostics,
}

impl Resolver<'_> {
    fn expr(&mut self, expr: &Expr, at: &Path) -> Value {
        match expr {
            Expr::Null => Value::null(Type::Dynamic),
            Expr::Bool(b) => Value::Bool(*b),
            Expr::Number(n) => Value::Number(n.clone()),
            Expr::String(s) => Value::string(s),
            Expr::List(items) => {
                let items = items
                    .iter()
                    .zip(0..)
                    .map(|(e, i)| self.expr(e, &at.index(i)));
                Value::tuple(items.collect::<Vec<_>>())
            }
            Expr::Object(attributes) => {
                let attributes = attributes
                    .iter()
                    .map(|(k, e)| (k.clone(), self.expr(e, &at.attribute(k.clone()))));
                Value::object(attributes.collect::<Vec<_>>())
            }
            Expr::Ref(target) => self.reference(target, at),
            Expr::SensitiveRef(target) => {
                self.sensitive.insert(at.clone());
                self.reference(target, at)
            }
            Expr::Derived(derived) => self.derived(derived, at),
            Expr::Build(build) => Value::string(&build.path),
        }
    }

    fn reference(&mut self, target: &Ref, at: &Path) -> Value {
        let Some(outputs) = self.outputs.get(&target.resource) else {
            return Value::unknown(Type::Dynamic);
        };
        match look_up(&outputs.value, &target.path) {
            Ok((value, path)) => {
                for mark in outputs.sensitive.strip_prefix(&path).iter() {
                    self.sensitive.insert(at.join(mark));
                }
                value
            }
            Err(problem) => {
                self.diagnostics
                    .push(problem.diagnostic(target).path(at.clone()));
                Value::unknown(Type::Dynamic)
            }
        }
    }

    fn derived(&mut self, derived: &Derived, at: &Path) -> Value {
        if derived.sensitive {
            self.sensitive.insert(at.clone());
        }
        if let Some(value) = &derived.value {
            return self.expr(&value.0, at);
        }
        let Some(parts) = &derived.template else {
            return Value::unknown(Type::Dynamic);
        };
        let mut text = String::new();
        let mut known = true;
        for part in parts {
            let value = self.expr(part, at);
            match scalar_text(&value) {
                Some(piece) if known => text.push_str(&piece),
                Some(_) => {}
                None if value.is_known() => {
                    let what = if value.is_null() {
                        "null".to_owned()
                    } else {
                        value.ty().to_string()
                    };
                    let summary = "Invalid template interpolation value";
                    let detail = format!("cannot put {what} into a string");
                    let hint = "compute the text with `derive`, which can look inside the value";
                    self.diagnostics.push(
                        Diagnostic::error(summary)
                            .detail(detail)
                            .hint(hint)
                            .path(at.clone()),
                    );
                }
                None => known = false,
            }
        }
        if known {
            return Value::string(text);
        }
        // The literal beginning is certain even now; providers may use it to refuse bad values early.
        let prefix = (!text.is_empty()).then(|| Str::from(text));
        let refinement = Refinement {
            not_null: true,
            prefix,
            ..Refinement::default()
        };
        Unknown {
            ty: Type::String,
            refinement,
        }
        .into_value()
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.to_string()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}

/// Why a reference leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub struct BadReference {
    /// How far it led.
    pub reached: Path,
    /// What stopped it.
    pub why: String,
    /// Names that exist there.
    pub known: Vec<Str>,
}

impl BadReference {
    fn diagnostic(self, target: &Ref) -> Diagnostic {
        let detail = format!(
            "reference to `{}.{}`: {}",
            target.resource, target.path, self.why
        );
        let Some(Step::Attribute(wrong)) = target.path.0.get(self.reached.0.len()) else {
            return Diagnostic::error("Invalid reference").detail(detail);
        };
        Diagnostic::error("Unsupported attribute")
            .detail(detail)
            .suggest(wrong, self.known.iter().map(|s| &**s))
    }
}

/// The value at a reference's path, and that path with map keys told from attributes.
///
/// String steps name attributes of objects and keys of maps; integer steps elements of lists, tuples and sets (in canonical
/// order). Anything inside an unknown is unknown.
pub fn look_up(object: &Value, path: &Path) -> Result<(Value, Path), BadReference> {
    let mut value = object.clone();
    let mut reached = Path::root();
    for step in &path.0 {
        if !value.is_known() {
            return Ok((Value::unknown(Type::Dynamic), reached));
        }
        let next = step_into(&value, step, &reached)?;
        value = next.0;
        reached = reached.with(next.1);
    }
    Ok((value, reached))
}

/// Whether everything at a reference's path is known.
pub fn is_known(target: &Ref, outputs: &OutputMap) -> bool {
    let object = outputs.get(&target.resource);
    object.is_some_and(|o| look_up(&o.value, &target.path).is_ok_and(|(v, _)| v.is_wholly_known()))
}

fn step_into(value: &Value, step: &Step, reached: &Path) -> Result<(Value, Step), BadReference> {
    let bad = |why: String, known: Vec<Str>| {
        Err(BadReference {
            reached: reached.clone(),
            why,
            known,
        })
    };
    match (value, step) {
        (Value::Null(_), _) => bad("it is null there, so nothing is inside".into(), Vec::new()),
        (Value::Object(o), Step::Attribute(name) | Step::Key(name)) => match o.get(name) {
            Some(v) => Ok((v.clone(), Step::Attribute(name.clone()))),
            None => bad(
                format!("there is no attribute `{name}`"),
                o.names().cloned().collect(),
            ),
        },
        (Value::Map(m), Step::Attribute(key) | Step::Key(key)) => match m.entries.get(key) {
            Some(v) => Ok((v.clone(), Step::Key(key.clone()))),
            None => bad(
                format!("there is no key {key:?}"),
                m.entries.names().cloned().collect(),
            ),
        },
        (Value::List(s) | Value::Set(s), Step::Index(i)) => at_index(&s.items, *i).map_or_else(
            || {
                bad(
                    format!(
                        "index {i} is out of range, it has {} elements",
                        s.items.len()
                    ),
                    Vec::new(),
                )
            },
            |v| Ok((v.clone(), step.clone())),
        ),
        (Value::Tuple(items), Step::Index(i)) => at_index(items, *i).map_or_else(
            || {
                bad(
                    format!("index {i} is out of range, it has {} elements", items.len()),
                    Vec::new(),
                )
            },
            |v| Ok((v.clone(), step.clone())),
        ),
        (_, Step::Index(i)) => bad(format!("{} has no index {i}", value.ty()), Vec::new()),
        (_, Step::Attribute(name) | Step::Key(name)) => bad(
            format!("{} has no attribute `{name}`", value.ty()),
            Vec::new(),
        ),
    }
}

fn at_index(items: &[Value], i: u64) -> Option<&Value> {
    usize::try_from(i).ok().and_then(|i| items.get(i))
}
