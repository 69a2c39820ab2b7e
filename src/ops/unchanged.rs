//! Whether a configuration is still the one that a plan was made from: what the plan knew has not changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Condition, Derived, Expr, Ir, Lifecycle, Meta};

/// Errors for everything that another evaluation says otherwise than the one a plan was made from, apart from what the
/// plan did not know yet, and from what depends on objects in `told`, about which the two were told differently.
pub(super) fn check(planned: &Ir, now: &Ir, told: &BTreeSet<&Id>) -> Result<(), Diagnostics> {
    let edges = now.edges.iter().filter(|e| told.contains(&e.from));
    let excused: BTreeSet<&str> = edges.map(|e| e.to.as_str()).collect();
    let (before, after) = (parts(planned), parts(now));
    // What is deferred appears once its inputs are known.
    let new = after
        .keys()
        .filter(|id| planned.deferred.is_empty() && !before.contains_key(*id));
    let changed = before.iter().filter(|(id, then)| {
        let same = |now: &Part<'_>| then.becomes(now) || excused.contains(id.as_str());
        !after.get(*id).is_some_and(same)
    });
    let addresses = changed.map(|(id, _)| id).chain(new);
    let problems = addresses.map(|id| {
        Diagnostic::error("Configuration has changed")
            .detail("what it evaluates to now is not what the plan was made from")
            .hint("plan again")
            .at(id)
    });
    Diagnostics(problems.collect()).into_result().map(drop)
}

/// What one declaration says.
struct Part<'a> {
    /// Its provider and type, or what else says what it is.
    kind: [&'a str; 2],
    exprs: Vec<&'a Expr>,
    meta: Option<&'a Meta>,
}

/// Declarations by id.
fn parts(ir: &Ir) -> BTreeMap<String, Part<'_>> {
    let part = |kind, exprs, meta| Part { kind, exprs, meta };
    let resources = ir.resources.iter().map(|r| {
        let part = part([&r.provider, &r.ty], vec![&r.config], Some(&r.meta));
        (r.id.to_string(), part)
    });
    let data = ir.data_sources.iter().map(|d| {
        let part = part([&d.provider, &d.ty], vec![&d.config], Some(&d.meta));
        (d.id.to_string(), part)
    });
    let providers = ir.providers.iter().map(|(id, p)| {
        let version = p.version.as_deref().unwrap_or_default();
        let exprs = [&p.source, &p.config].into_iter().chain(&p.meta);
        let part = part([version, ""], exprs.collect(), None);
        (format!("provider.{id}"), part)
    });
    let consumers = ir.consumers.iter().map(|c| {
        let secrecy = if c.sensitive { "sensitive" } else { "" };
        (c.id.clone(), part([secrecy, ""], vec![&c.value], None))
    });
    let all = resources.chain(data).chain(providers);
    all.chain(consumers).collect()
}

impl Part<'_> {
    /// Whether the other is the same with more of it known.
    fn becomes(&self, now: &Part<'_>) -> bool {
        let meta = match (self.meta, now.meta) {
            (Some(then), Some(now)) => meta_becomes(then, now),
            (then, now) => then == now,
        };
        let mut exprs = self.exprs.iter().zip(&now.exprs);
        let alike = self.kind == now.kind && self.exprs.len() == now.exprs.len();
        meta && alike && exprs.all(|(then, now)| becomes(then, now))
    }
}

fn meta_becomes(then: &Meta, now: &Meta) -> bool {
    let Meta {
        depends_on,
        lifecycle,
        index,
        // What a leaf that has become known mentions is added.
        builds: _,
        sensitive,
        preconditions,
        postconditions,
    } = then;
    let Lifecycle {
        prevent_destroy,
        ignore_changes,
        create_before_destroy,
        replace_triggered_by,
    } = lifecycle;
    let rules = &now.lifecycle;
    *depends_on == now.depends_on
        && *index == now.index
        && *sensitive == now.sensitive
        && *prevent_destroy == rules.prevent_destroy
        && *ignore_changes == rules.ignore_changes
        && *create_before_destroy == rules.create_before_destroy
        && *replace_triggered_by == rules.replace_triggered_by
        && conditions_become(preconditions, &now.preconditions)
        && conditions_become(postconditions, &now.postconditions)
}

fn conditions_become(then: &[Condition], now: &[Condition]) -> bool {
    then.len() == now.len()
        && then.iter().zip(now).all(|(then, now)| {
            becomes(&then.condition, &now.condition) && becomes(&then.message, &now.message)
        })
}

/// Whether an expression is the same as it was, where it was not still to be computed.
fn becomes(then: &Expr, now: &Expr) -> bool {
    match (then, now) {
        (
            Expr::Derived(Derived {
                template: None,
                value: None,
                ..
            }),
            _,
        ) => true,
        (Expr::Derived(then), Expr::Derived(now)) => {
            then.inputs == now.inputs
                && then.template == now.template
                && then.sensitive == now.sensitive
        }
        (Expr::List(then), Expr::List(now)) => {
            then.len() == now.len() && then.iter().zip(now).all(|(a, b)| becomes(a, b))
        }
        (Expr::Object(then), Expr::Object(now)) => {
            then.len() == now.len()
                && then
                    .iter()
                    .zip(now)
                    .all(|((a, then), (b, now))| a == b && becomes(then, now))
        }
        _ => then == now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    /// A document with one resource of this configuration that uses `p.t.a`.
    fn document(config: &str) -> Ir {
        let text = format!(
            r#"{{"schemaVersion":1,"providers":{{"p":{{"source":"builtin"}}}},"nixConsumers":[],
                "edges":[{{"from":"p.t.a","to":"p.t.b","via":"x"}}],"resources":[
                {{"id":"p.t.a","provider":"p","type":"t","name":"a","config":{{}}}},
                {{"id":"p.t.b","provider":"p","type":"t","name":"b","config":{config}}}]}}"#
        );
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_what_was_not_known_may_become_something_else() {
        let pending = r#"{"x":{"__derived":{"inputs":["p.t.a.id"]}},"y":[1]}"#;
        let reference = r#"{"x":{"__ref":{"resource":"p.t.a","path":["id"]}},"y":[1]}"#;
        let table = [
            (pending, pending, true),
            (pending, r#"{"x":{"k":"v"},"y":[1]}"#, true),
            (pending, r#"{"x":"v","y":[2]}"#, false),
            (pending, r#"{"x":"v","y":[1,1]}"#, false),
            (pending, r#"{"x":"v"}"#, false),
            (reference, reference, true),
            (reference, pending, false),
            (r#"{"x":"v"}"#, r#"{"x":"w"}"#, false),
        ];
        for (then, now, same) in table {
            let (then_ir, now_ir) = (document(then), document(now));
            let checked = check(&then_ir, &now_ir, &BTreeSet::new());
            assert_eq!(checked.is_ok(), same, "{then} {now}");
            let a = Id::from("p.t.a");
            let told = BTreeSet::from([&a]);
            assert!(check(&then_ir, &now_ir, &told).is_ok(), "{then} {now}");
        }
    }

    #[test]
    fn declarations_neither_come_nor_go() {
        let whole = document("{}");
        let mut less = whole.clone();
        less.resources.pop();
        for (then, now) in [(&whole, &less), (&less, &whole)] {
            let problems = check(then, now, &BTreeSet::new()).unwrap_err();
            assert_eq!(problems.0[0].address.as_deref(), Some("p.t.b"));
        }
        less.deferred.push(crate::ir::Deferred {
            id: "more".into(),
            inputs: Vec::new(),
            declares: None,
        });
        assert!(check(&less, &whole, &BTreeSet::new()).is_ok());
    }
}
