//! How conditions came out, for the documents of plans and states.

use serde_json::Value as Json;

use crate::ir::Meta;
use crate::json::{self, Checked, Mode, Subject};
use crate::ops::document::Schemas;
use crate::plan::Plan;
use crate::plan::conditions::CheckResult;
use crate::state::{CheckRecord, CheckSubject, State};

/// How the conditions of resources, data sources and the stack came out.
pub(super) fn planned(plan: &Plan, schemas: &Schemas) -> Vec<Json> {
    let has_conditions = |m: &Meta| !m.preconditions.is_empty() || !m.postconditions.is_empty();
    let managed = (plan.ir.resources.iter().filter(|r| has_conditions(&r.meta))).map(|r| {
        let names = (&*r.provider, &*r.ty, &*r.name);
        let name = schemas.name(Mode::Managed, &r.id, names, r.meta.index.as_ref());
        (&r.id, name)
    });
    let data = (plan
        .ir
        .data_sources
        .iter()
        .filter(|d| has_conditions(&d.meta)))
    .map(|d| {
        let names = (&*d.provider, &*d.ty, &*d.name);
        let name = schemas.name(Mode::Data, &d.id, names, d.meta.index.as_ref());
        (&d.id, name)
    });
    let objects = managed.chain(data).map(|(id, name)| Checked {
        subject: Subject::Resource(name),
        result: plan.checks.of(id).unwrap_or_else(CheckResult::unknown),
    });
    let stack = plan.checks.checks.iter().map(|(name, result)| Checked {
        subject: Subject::Check(name),
        result: result.clone(),
    });
    json::checks(objects.chain(stack))
}

/// How the conditions of the last run came out.
pub(super) fn stored(state: &State, schemas: &Schemas) -> Vec<Json> {
    let all = state.check_results.iter();
    json::checks(all.map(|record| stored_check(record, state, schemas)))
}

/// How conditions came out in the last run. Of a data source, and of what was never made, the state knows the id only.
fn stored_check<'a>(record: &'a CheckRecord, state: &State, schemas: &Schemas) -> Checked<'a> {
    let subject = match &record.subject {
        CheckSubject::Check(name) => Subject::Check(name),
        CheckSubject::Object(id) => {
            Subject::Resource(if let Some(stored) = state.resources.get(id) {
                let names = (&*stored.provider, &*stored.ty, &*stored.name);
                schemas.name(Mode::Managed, id, names, stored.index.as_ref())
            } else {
                let (mode, rest) = match id.as_str().strip_prefix("data.") {
                    Some(rest) => (Mode::Data, rest),
                    None => (Mode::Managed, id.as_str()),
                };
                let mut parts = rest.rsplitn(3, '.');
                let name = parts.next().unwrap_or_default();
                let ty = parts.next().unwrap_or_default();
                let provider = parts.next().unwrap_or_default();
                schemas.name(mode, id, (provider, ty, name), None)
            })
        }
    };
    let result = CheckResult {
        status: record.status,
        messages: record.messages.clone(),
    };
    Checked { subject, result }
}
