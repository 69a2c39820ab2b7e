//! Stack outputs: the consumers named `output.<name>`.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Ir;
use crate::plan::resolve::{OutputMap, resolve};
use crate::value::Value;

/// One stack output, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct StackOutput {
    /// The value, with unknowns while planning.
    pub value: Value,
    /// Never to be shown.
    pub sensitive: bool,
}

/// Name of the stack output a consumer is, if it is one.
pub fn output_name(consumer: &str) -> Option<&str> {
    consumer.strip_prefix("output.")
}

/// The stack outputs with the object outputs at hand, by name; and problems, addressed to `output.<name>`.
pub fn stack_outputs(ir: &Ir, outputs: &OutputMap) -> (BTreeMap<String, StackOutput>, Diagnostics) {
    let mut found = BTreeMap::new();
    let mut problems = Diagnostics::default();
    for consumer in &ir.consumers {
        match resolve(&consumer.value, outputs) {
            Ok(resolved) if !consumer.sensitive && !resolved.sensitive.is_empty() => problems.push(
                Diagnostic::error("Output refers to sensitive values")
                    .detail("it would show a value that its provider calls sensitive")
                    .hint("declare it as `{ value = …; sensitive = true; }`")
                    .at(&*consumer.id),
            ),
            Ok(resolved) => {
                if let Some(name) = output_name(&consumer.id) {
                    let output = StackOutput {
                        value: resolved.value,
                        sensitive: consumer.sensitive,
                    };
                    found.insert(name.to_owned(), output);
                }
            }
            Err(diagnostics) => problems.extend_at(diagnostics, &consumer.id),
        }
    }
    (found, problems)
}
