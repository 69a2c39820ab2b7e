//! The table of `docs/providers.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::Outcome;
use super::case::{Case, Does};

/// The lines around the table.
const START: &str = "<!-- made by the tests: start -->\n";
const END: &str = "<!-- made by the tests: end -->\n";

/// The document with its table made anew.
pub(super) fn refreshed(text: &str, outcomes: &[&Outcome]) -> String {
    let (before, rest) = text.split_once(START).expect("a start of the table");
    let (_, after) = rest.split_once(END).expect("an end of the table");
    let mut rows: Vec<_> = outcomes.iter().map(|outcome| row(outcome)).collect();
    rows.sort();
    let head = "| provider | package | version | protocol | what its stack holds | what was done to it | what it cannot import |\n|---|---|---|---|---|---|---|\n";
    format!("{before}{START}{head}{}{END}{after}", rows.concat())
}

fn row(outcome: &Outcome) -> String {
    let Outcome {
        plugin,
        case,
        types,
        reads,
    } = outcome;
    let package = if plugin.is_ours() {
        "this repository".to_owned()
    } else {
        format!("`{}`", plugin.package)
    };
    let does = |does, word| {
        case.steps
            .iter()
            .any(|step| step.does == does)
            .then_some(word)
    };
    let done = [
        does(Does::Create, "create"),
        reads.then_some("read data"),
        does(Does::Update, "update"),
        does(Does::Replace, "replace"),
        (!case.import.objects.is_empty()).then_some("import"),
        Some("destroy"),
    ];
    let done: Vec<_> = done.into_iter().flatten().collect();
    let types: Vec<_> = types.iter().map(|ty| format!("`{ty}`")).collect();
    format!(
        "| {} | {package} | {} | {} | {} | {} | {} |\n",
        plugin.name,
        plugin.version(),
        case.protocol,
        types.join(", "),
        done.join(", "),
        refusals(case)
    )
}

/// Types that cannot be imported, by what the provider says when they are.
fn refusals(case: &Case) -> String {
    let mut by_reason = BTreeMap::<_, BTreeSet<_>>::new();
    for (name, reason) in &case.import.refused {
        let ty = format!("`{}`", name.split_once('.').unwrap().0);
        by_reason.entry(reason).or_default().insert(ty);
    }
    let reasons = by_reason.into_iter().map(|(reason, types)| {
        let types: Vec<_> = types.into_iter().collect();
        format!("{}: \u{201c}{reason}\u{201d}", types.join(", "))
    });
    reasons.collect::<Vec<_>>().join("; ")
}
