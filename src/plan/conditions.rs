//! Preconditions, postconditions and checks, evaluated with what is known of outputs.
//!
//! While planning, a condition that is not known yet is left for apply. One that Nix computed from the last run's outputs
//! may turn out otherwise once Nix is told what they are now, so that a failure is only told when no further evaluation
//! comes; until then it keeps what depends on it from being planned.

use std::collections::BTreeMap;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Condition, Expr, Ir, Meta};
use crate::plan::resolve::{OutputMap, resolve};
use crate::plan::stack::Walk;
pub use crate::state::CheckStatus;
use crate::state::{CheckRecord, CheckSubject};
use crate::value::{Path, Type, Value, convert};

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// What must hold before an object is planned or changed.
    Precondition,
    /// What must hold of the result.
    Postcondition,
    /// What should hold of the stack.
    Check,
}

/// How the conditions of one object came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResult {
    /// All in all.
    pub status: CheckStatus,
    /// Messages of those that do not hold.
    pub messages: Vec<String>,
}

/// How all conditions came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResults {
    /// Those of resources and data sources.
    pub objects: BTreeMap<Id, BTreeMap<Kind, CheckResult>>,
    /// Those of the stack, by name.
    pub checks: BTreeMap<String, CheckResult>,
}

impl CheckResult {
    /// Of conditions that nobody looked at.
    pub fn unknown() -> Self {
        Self {
            status: CheckStatus::Unknown,
            messages: Vec::new(),
        }
    }

    /// With another result about the same.
    pub fn join(&mut self, other: &Self) {
        self.status = self.status.max(other.status);
        self.messages.extend(other.messages.iter().cloned());
    }
}

impl CheckResults {
    /// How pre- and postconditions of an object came out together; `None` if none was looked at.
    pub fn of(&self, id: &Id) -> Option<CheckResult> {
        let mut all = CheckResult::default();
        for result in self.objects.get(id)?.values() {
            all.join(result);
        }
        Some(all)
    }

    /// As it is stored; conditions that nobody looked at in this run are not in it.
    pub fn records(&self) -> Vec<CheckRecord> {
        let record = |subject, result: CheckResult| CheckRecord {
            subject,
            status: result.status,
            messages: result.messages,
        };
        let of_objects = self
            .objects
            .keys()
            .filter_map(|id| Some((id, self.of(id)?)));
        let objects = of_objects.map(|(id, r)| record(CheckSubject::Object(id.clone()), r));
        let checks = self.checks.iter();
        let checks = checks.map(|(name, r)| record(CheckSubject::Check(name.clone()), r.clone()));
        objects.chain(checks).collect()
    }

    /// Notes how the conditions of one kind came out now.
    pub fn set(&mut self, id: &Id, kind: Kind, result: CheckResult) {
        let of_object = self.objects.entry(id.clone()).or_default();
        of_object.insert(kind, result);
    }
}

impl Meta {
    /// The conditions of a kind.
    pub fn conditions(&self, kind: Kind) -> &[Condition] {
        match kind {
            Kind::Precondition => &self.preconditions,
            Kind::Postcondition => &self.postconditions,
            Kind::Check => &[],
        }
    }
}

/// Evaluates conditions of one kind; gives their result and an error for each that does not hold.
pub fn evaluate(
    conditions: &[Condition],
    kind: Kind,
    outputs: &OutputMap,
) -> (CheckResult, Diagnostics) {
    let mut result = CheckResult::default();
    let mut problems = Diagnostics::default();
    for (condition, i) in conditions.iter().zip(0..) {
        let place = match kind {
            Kind::Precondition => Path::root().attribute("preconditions").index(i),
            Kind::Postcondition => Path::root().attribute("postconditions").index(i),
            Kind::Check => Path::root(),
        };
        let status = match truth(&condition.condition, outputs) {
            Ok(Some(true)) => CheckStatus::Pass,
            Ok(None) => CheckStatus::Unknown,
            Ok(Some(false)) => {
                let message = text(&condition.message, outputs);
                let summary = match kind {
                    Kind::Precondition => "Resource precondition failed",
                    Kind::Postcondition => "Resource postcondition failed",
                    Kind::Check => "Check assertion failed",
                };
                problems.push(Diagnostic::error(summary).detail(&*message).path(place));
                result.messages.push(message);
                CheckStatus::Fail
            }
            Err(invalid) => {
                for problem in invalid.0 {
                    let inside = problem.path.clone().unwrap_or_default();
                    problems.push(problem.path(place.join(&inside)));
                }
                CheckStatus::Error
            }
        };
        result.status = result.status.max(status);
    }
    (result, problems)
}

/// Evaluates what should hold of the stack; what does not is a warning.
pub fn evaluate_checks(
    ir: &Ir,
    outputs: &OutputMap,
) -> (BTreeMap<String, CheckResult>, Diagnostics) {
    let mut results: BTreeMap<String, CheckResult> = BTreeMap::new();
    let mut warnings = Diagnostics::default();
    for check in &ir.checks {
        let condition = std::slice::from_ref(&check.condition);
        let (result, problems) = evaluate(condition, Kind::Check, outputs);
        warnings.extend_at(demoted(problems), &format!("check.{}", check.name));
        results.entry(check.name.clone()).or_default().join(&result);
    }
    (results, warnings)
}

/// Errors as warnings.
fn demoted(mut diagnostics: Diagnostics) -> Diagnostics {
    for diagnostic in &mut diagnostics.0 {
        diagnostic.severity = Severity::Warning;
    }
    diagnostics
}

/// Whether a condition holds; `None` if that is not known yet.
fn truth(condition: &Expr, outputs: &OutputMap) -> Result<Option<bool>, Diagnostics> {
    let value = resolve(condition, outputs)?.value;
    let invalid = |why: String| Diagnostic::error("Invalid condition").detail(why);
    match convert(&value, &Type::Bool) {
        Ok(Value::Bool(holds)) => Ok(Some(holds)),
        Ok(Value::Unknown(_)) => Ok(None),
        Ok(_) => Err(invalid("it is null, which is neither true nor false".into()).into()),
        Err(e) => Err(invalid(format!("it must be true or false: {e}")).into()),
    }
}

/// A message, as far as it may be shown and is known.
fn text(message: &Expr, outputs: &OutputMap) -> String {
    let found = resolve(message, outputs);
    let Ok(resolved) = found else {
        return "(the message refers to something that does not exist)".to_owned();
    };
    if !resolved.sensitive.is_empty() {
        return "(the message holds sensitive values)".to_owned();
    }
    match convert(&resolved.value, &Type::String) {
        Ok(Value::String(text)) => text.to_string(),
        Ok(Value::Unknown(_)) => "(the message is not known yet)".to_owned(),
        _ => "(the message is not a text)".to_owned(),
    }
}

/// Plans a resource or data source between its preconditions and its postconditions.
pub(super) async fn around(
    walk: &Walk<'_>,
    (id, meta): (&Id, &Meta),
    planning: impl Future<Output = Result<(), Diagnostics>>,
) -> Result<(), Diagnostics> {
    if walk.input.options.destroy {
        return planning.await;
    }
    hold(walk, id, meta, Kind::Precondition)?;
    planning.await?;
    hold(walk, id, meta, Kind::Postcondition)
}

/// Notes how conditions came out; an error without text if one does not hold.
fn hold(walk: &Walk<'_>, id: &Id, meta: &Meta, kind: Kind) -> Result<(), Diagnostics> {
    let conditions = meta.conditions(kind);
    if conditions.is_empty() {
        return Ok(());
    }
    walk.found(|f| {
        let (result, problems) = evaluate(conditions, kind, &f.outputs);
        f.checks.set(id, kind, result);
        if walk.input.options.refresh_only {
            f.diagnostics.extend_at(demoted(problems), id.as_str());
        } else if problems.has_errors() {
            f.broken.extend_at(problems, id.as_str());
            return Err(Diagnostics::default());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Ref;
    use crate::plan::resolve::Outputs;
    use crate::value::PathSet;

    fn outputs() -> OutputMap {
        let value = Value::object([
            ("on", Value::Bool(true)),
            ("off", Value::string("false")),
            ("null", Value::null(Type::Bool)),
            ("later", Value::unknown(Type::Bool)),
            ("name", Value::string("web")),
            ("secret", Value::string("hush")),
        ]);
        let sensitive: PathSet = [Path::root().attribute("secret")].into_iter().collect();
        [(Id::from("p.t.a"), Outputs { value, sensitive })].into()
    }

    fn to(name: &str) -> Expr {
        Expr::Ref(Ref {
            resource: "p.t.a".into(),
            path: Path::root().attribute(name),
        })
    }

    /// Each row: condition, message, status, what is said.
    #[test]
    fn conditions_come_out_as_they_are_known() {
        let said = || Expr::String("no".into());
        let other = Expr::Ref(Ref {
            resource: "p.t.b".into(),
            path: Path::root().attribute("on"),
        });
        let rows = [
            (Expr::Bool(true), said(), CheckStatus::Pass, ""),
            (to("on"), said(), CheckStatus::Pass, ""),
            (Expr::Bool(false), said(), CheckStatus::Fail, "no"),
            (to("off"), to("name"), CheckStatus::Fail, "web"),
            (to("off"), to("secret"), CheckStatus::Fail, "sensitive"),
            (to("off"), to("later"), CheckStatus::Fail, "not known yet"),
            (to("off"), to("nmae"), CheckStatus::Fail, "does not exist"),
            (to("off"), Expr::Null, CheckStatus::Fail, "not a text"),
            (to("later"), said(), CheckStatus::Unknown, ""),
            (other, said(), CheckStatus::Unknown, ""),
            (to("null"), said(), CheckStatus::Error, "null"),
            (to("name"), said(), CheckStatus::Error, "true or false"),
            (to("onn"), said(), CheckStatus::Error, "onn"),
        ];
        for (condition, message, status, text) in rows {
            let both = Condition { condition, message };
            let conditions = [both.clone()];
            let (result, problems) = evaluate(&conditions, Kind::Postcondition, &outputs());
            assert_eq!(result.status, status, "{both:?}");
            assert_eq!(problems.0.is_empty(), text.is_empty(), "{both:?}");
            assert!(problems.to_string().contains(text), "{problems}");
            assert!(!problems.to_string().contains("hush"));
            if let Some(problem) = problems.0.first() {
                let place = problem.path.as_ref().unwrap();
                assert_eq!(place.to_string(), "postconditions[0]");
            }
        }
    }

    #[test]
    fn the_worst_result_counts() {
        let conditions = [to("later"), to("off"), to("on")].map(|condition| Condition {
            condition,
            message: Expr::String("no".into()),
        });
        let (result, _) = evaluate(&conditions, Kind::Precondition, &outputs());
        let mut all = CheckResults::default();
        all.set(&"p.t.x".into(), Kind::Precondition, result);
        all.set(&"p.t.x".into(), Kind::Postcondition, CheckResult::default());
        let result = all.of(&"p.t.x".into()).unwrap();
        assert_eq!(
            (result.status, result.messages.len()),
            (CheckStatus::Fail, 1)
        );
        assert_eq!(all.of(&"p.t.y".into()), None);
    }
}
