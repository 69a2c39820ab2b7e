//! Do the paths of `ignoreChanges` name something that can be ignored?

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::IgnoreChanges;
use crate::schema::{Attribute, AttributeType, Block, Nesting};
use crate::value::{Path, Step, Str};

/// An error for each path that leads to no attribute or block, a warning for each that only the provider decides.
pub fn check_ignored(block: &Block, ignore: &IgnoreChanges) -> Diagnostics {
    let mut found = Diagnostics::default();
    let IgnoreChanges::Paths(paths) = ignore else {
        return found;
    };
    let list = Path::root()
        .attribute("lifecycle")
        .attribute("ignoreChanges");
    for (path, i) in paths.iter().zip(0..) {
        let place = list.index(i);
        match follow(block, &path.0) {
            Ok(Some(attribute)) if attribute.computed && !attribute.optional => found.push(
                Diagnostic::warning("Redundant entry in ignoreChanges")
                    .detail(format!("the provider alone decides `{path}`: no configuration can change it"))
                    .path(place),
            ),
            Ok(_) => {}
            Err(Nothing { name, known }) => found.push(
                Diagnostic::error("Unsupported attribute")
                    .detail(format!("`ignoreChanges` names `{path}`, but there is no attribute or block `{name}`"))
                    .suggest(name, known.into_iter().map(|s| &**s))
                    .path(place),
            ),
        }
    }
    found
}

struct Nothing<'a> {
    name: &'a str,
    known: Vec<&'a Str>,
}

/// The attribute that a path leads to or into; none if it is a block.
fn follow<'a>(block: &'a Block, steps: &'a [Step]) -> Result<Option<&'a Attribute>, Nothing<'a>> {
    let Some((Step::Attribute(name) | Step::Key(name), rest)) = steps.split_first() else {
        return Ok(None);
    };
    if let Some(nested) = block.block_types.get(name) {
        return follow(&nested.block, inside(nested.nesting, rest));
    }
    let Some(attribute) = block.attributes.get(name) else {
        let known = block.attributes.keys().chain(block.block_types.keys());
        return Err(Nothing {
            name,
            known: known.collect(),
        });
    };
    follow_attribute(attribute, rest).map(Some)
}

fn follow_attribute<'a>(
    attribute: &'a Attribute,
    steps: &'a [Step],
) -> Result<&'a Attribute, Nothing<'a>> {
    let AttributeType::Nested(nested) = &attribute.ty else {
        // What is inside a plain value, only the value tells.
        return Ok(attribute);
    };
    let steps = inside(nested.nesting, steps);
    let Some((Step::Attribute(name) | Step::Key(name), rest)) = steps.split_first() else {
        return Ok(attribute);
    };
    match nested.attributes.get(name) {
        Some(inner) => follow_attribute(inner, rest),
        None => Err(Nothing {
            name,
            known: nested.attributes.keys().collect(),
        }),
    }
}

/// The steps behind the one that selects an element, if there are elements to select.
fn inside(nesting: Nesting, steps: &[Step]) -> &[Step] {
    match nesting {
        Nesting::Single | Nesting::Group => steps,
        Nesting::List | Nesting::Set | Nesting::Map => steps.get(1..).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::schema;

    #[test]
    fn paths_lead_somewhere() {
        let block = schema(
            "name: string optional
             id: string computed
             tags: map(string) optional
             nodes: map optional {
               size: number optional
               uid: string computed
             }
             block rule list {
               port: number optional
             }
             block one single {
               on: bool optional
             }",
        );
        for (path, said) in [
            ("name", ""),
            ("tags", ""),
            ("tags.any", ""),
            ("nodes", ""),
            ("nodes.a", ""),
            ("nodes.a.size", ""),
            ("rule", ""),
            ("rule.0", ""),
            ("rule.0.port", ""),
            ("one.on", ""),
            ("id", "the provider alone decides `id`"),
            ("nodes.a.uid", "the provider alone decides"),
            ("nmae", "no attribute or block `nmae`"),
            ("nodes.a.sise", "no attribute or block `sise`"),
            ("rule.0.prot", "no attribute or block `prot`"),
            ("one.off", "no attribute or block `off`"),
        ] {
            let ignore = IgnoreChanges::Paths(vec![Path::from_dotted(path)]);
            let found = check_ignored(&block, &ignore);
            assert_eq!(
                found.0.len(),
                usize::from(!said.is_empty()),
                "{path}: {found}"
            );
            assert!(found.to_string().contains(said), "{path}: {found}");
            assert_eq!(found.has_errors(), said.starts_with("no "), "{path}");
        }
        assert!(check_ignored(&block, &IgnoreChanges::All).0.is_empty());
    }
}
