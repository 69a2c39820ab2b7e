//! Where values of ephemeral resources may go: only where nothing is written down.

use std::collections::BTreeSet;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Ir, Mode, Ref};
use crate::schema::{Attribute, AttributeType, Block};
use crate::value::{Path, Step};

/// Ids of a stack's ephemeral resources.
pub fn opened(ir: &Ir) -> BTreeSet<&Id> {
    let opened = ir.data_sources.iter().filter(|d| d.mode == Mode::Ephemeral);
    opened.map(|d| &d.id).collect()
}

/// Errors for ephemeral values in attributes of a resource that its provider stores (docs/IR-CONTRACT.md). What else
/// must not mention them is refused when the document is read.
pub fn check(opened: &BTreeSet<&Id>, block: &Block, config: &Expr) -> Result<(), Diagnostics> {
    if opened.is_empty() {
        return Ok(());
    }
    let mut found = Diagnostics::default();
    config.visit(&mut |path, part| {
        let used: &[Ref] = match part {
            Expr::Ref(target) | Expr::SensitiveRef(target) => std::slice::from_ref(target),
            Expr::Derived(derived) => &derived.inputs,
            _ => return,
        };
        let Some(used) = used.iter().find(|r| opened.contains(&r.resource)) else {
            return;
        };
        if !attribute(block, path).is_some_and(|a| a.write_only) {
            let detail =
                format!("`{used}` is ephemeral, and this attribute is stored in the state");
            let problem = Diagnostic::error("Ephemeral value would be stored")
                .detail(detail)
                .hint("use a write-only attribute of the resource, if it has one");
            found.push(problem.path(path.clone()));
        }
    });
    found.into_result().map(drop)
}

/// The attribute a path leads to or into; the outermost of those that have a plain type or are write-only.
fn attribute<'a>(block: &'a Block, path: &Path) -> Option<&'a Attribute> {
    let mut names = path.0.iter().filter_map(|step| match step {
        Step::Attribute(name) | Step::Key(name) => Some(name),
        Step::Index(_) => None,
    });
    let mut block = block;
    let mut found = loop {
        let name = names.next()?;
        if let Some(nested) = block.block_types.get(name) {
            block = &nested.block;
        } else if let Some(attribute) = block.attributes.get(name) {
            break attribute;
        }
        // Anything else is the label of a block in a map of blocks, which has no schema of its own.
    };
    while let AttributeType::Nested(nested) = &found.ty {
        if found.write_only {
            break;
        }
        found = names.find_map(|name| nested.attributes.get(name))?;
    }
    Some(found)
}
