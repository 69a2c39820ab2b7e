//! Must the object be replaced, and what is to be done with it?
//!
//! | rule | test |
//! |---|---|
//! | a path counts only where prior and planned differ; unknown differs | `only_what_changes_needs_replacement` |
//! | a path into only one of the two counts | `only_what_changes_needs_replacement` |
//! | a path of a write-only attribute always counts, as its value is never seen | `write_only` |
//! | a path into neither is an error of the provider | `paths_into_nothing_are_errors` |
//! | without prior object: create | `actions` |
//! | nothing differs and nothing forces it: no-op | `actions` |
//! | a path that counts, or force: replace, in the order that was asked for; else update | `actions` |

use super::action::Action;
use super::violation::Violation;
use crate::schema::{Attribute, AttributeType, Block};
use crate::value::{Lookup, Path, Step, Value};

/// The paths of `requires_replace` whose values do change from the prior to the planned object.
///
/// An error lists the paths that exist in neither. Without a prior object there is nothing to replace.
pub fn effective_replacements(
    block: &Block,
    prior: &Value,
    planned: &Value,
    requires_replace: &[Path],
) -> Result<Vec<Path>, Vec<Violation>> {
    if prior.is_null() {
        return Ok(Vec::new());
    }
    let mut kept = Vec::new();
    let mut wrong = Vec::new();
    for path in requires_replace {
        let differs = match (path.get(prior), path.get(planned)) {
            (Lookup::NotApplicable, Lookup::NotApplicable) => {
                wrong.push(Violation {
                    path: path.clone(),
                    message: "requires replacement, but there is no such attribute".to_owned(),
                });
                continue;
            }
            (Lookup::Found(before), Lookup::Found(after)) => after.equals(before) != Some(true),
            _ => true,
        };
        if differs || is_write_only(block, path) {
            kept.push(path.clone());
        }
    }
    if wrong.is_empty() {
        Ok(kept)
    } else {
        Err(wrong)
    }
}

/// Input of [`decide`].
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The resource schema.
    pub block: &'a Block,
    /// The prior object, null if there is none (or only a tainted one).
    pub prior: &'a Value,
    /// The planned object, not null.
    pub planned: &'a Value,
    /// What [`effective_replacements`] kept.
    pub replace_paths: &'a [Path],
    /// Replace whatever the provider says.
    pub force: bool,
    /// Replacements create first.
    pub create_before_destroy: bool,
}

/// What is to be done with a configured object.
pub fn decide(input: Decision<'_>) -> Action {
    let Decision {
        block,
        prior,
        planned,
        replace_paths,
        force,
        create_before_destroy,
    } = input;
    let same = || planned.equals(prior) == Some(true);
    let unseen = || replace_paths.iter().any(|path| is_write_only(block, path));
    if prior.is_null() {
        Action::Create
    } else if !force && !unseen() && same() {
        Action::NoOp
    } else if !force && replace_paths.is_empty() {
        Action::Update
    } else {
        replacement(create_before_destroy)
    }
}

/// The replacing action in this order.
pub fn replacement(create_before_destroy: bool) -> Action {
    if create_before_destroy {
        Action::CreateThenDelete
    } else {
        Action::DeleteThenCreate
    }
}

fn is_write_only(block: &Block, path: &Path) -> bool {
    attribute_at(block, path).is_some_and(|a| a.write_only)
}

/// The attribute a path ends at; steps that select elements do not count.
fn attribute_at<'a>(block: &'a Block, path: &Path) -> Option<&'a Attribute> {
    let mut names = path.0.iter().filter_map(|step| match step {
        Step::Attribute(name) => Some(name),
        Step::Key(_) | Step::Index(_) => None,
    });
    let mut name = names.next()?;
    let mut block = block;
    while let Some(nested) = block.block_types.get(name) {
        block = &nested.block;
        name = names.next()?;
    }
    let mut attribute = block.attributes.get(name)?;
    for name in names {
        let AttributeType::Nested(nested) = &attribute.ty else {
            return None;
        };
        attribute = nested.attributes.get(name)?;
    }
    Some(attribute)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, path, schema};

    const EVERYTHING: &str = "
        name: string optional
        pw: string optional write_only
        tags: map(string) optional
        set: set(string) optional
        any: any optional
        n: list optional {
          name: string optional
          pw: string optional write_only
        }
        block disk list {
          size: number optional
          pw: string optional write_only
        }";

    fn effective(prior: &str, planned: &str, paths: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let block = schema(EVERYTHING);
        let paths: Vec<Path> = paths.iter().map(|p| path(p)).collect();
        let (prior, planned) = (object(&block, prior), object(&block, planned));
        match effective_replacements(&block, &prior, &planned, &paths) {
            Ok(kept) => Ok(kept.iter().map(Path::to_string).collect()),
            Err(wrong) => Err(wrong.iter().map(Violation::to_string).collect()),
        }
    }

    #[test]
    fn only_what_changes_needs_replacement() {
        let prior =
            r#"{"name": "a", "tags": {"k": "1"}, "n": [{"name": "a"}], "disk": [{"size": 1}]}"#;
        for (planned, given, kept) in [
            (prior, "name", false),
            (r#"{"name": "b"}"#, "name", true),
            (r#"{"name": "??"}"#, "name", true),
            (r#"{"name": null}"#, "name", true),
            (prior, "n[0].name", false),
            (r#"{"n": [{"name": "b"}]}"#, "n[0].name", true),
            (r#"{"n": []}"#, "n[0].name", true),
            (
                r#"{"n": [{"name": "a"}, {"name": "a"}]}"#,
                "n[1].name",
                true,
            ),
            (r#"{"n": "??"}"#, "n[0].name", true),
            (r#"{"n": ["??"]}"#, "n[0].name", true),
            (r#"{"tags": {}}"#, r#"tags["k"]"#, true),
            (r#"{"tags": {"k": "1", "l": "1"}}"#, r#"tags["k"]"#, false),
            (r#"{"tags": null}"#, r#"tags["k"]"#, true),
            (r#"{"disk": [{"size": 2}]}"#, "disk[0].size", true),
            (r#"{"any": "??"}"#, "any.deep", true),
            ("{}", "", true),
            (prior, "", false),
        ] {
            let want = if kept {
                vec![path(given).to_string()]
            } else {
                Vec::new()
            };
            assert_eq!(
                effective(prior, planned, &[given]),
                Ok(want),
                "{given} of {planned}"
            );
        }
        assert_eq!(
            effective("null", r#"{"name": "a"}"#, &["name", "none"]),
            Ok(Vec::new())
        );
    }

    #[test]
    fn write_only() {
        let object = r#"{"n": [{}], "disk": [{}]}"#;
        let paths = [
            "pw",
            "n[0].pw",
            "disk[0].pw",
            "name",
            "n[0].name",
            "disk[0].size",
            "disk",
        ];
        assert_eq!(
            effective(object, object, &paths),
            Ok(vec![
                "pw".to_owned(),
                "n[0].pw".to_owned(),
                "disk[0].pw".to_owned()
            ])
        );
    }

    #[test]
    fn paths_into_nothing_are_errors() {
        let object = r#"{"name": "a", "set": ["x"], "n": []}"#;
        for nowhere in ["none", "name.deep", "set[0]", "n[0].name", r#"tags["k"]"#] {
            let want = format!("{nowhere}: requires replacement, but there is no such attribute");
            assert_eq!(
                effective(object, object, &[nowhere, "name"]),
                Err(vec![want])
            );
        }
    }

    #[test]
    fn actions() {
        use Action::{Create, CreateThenDelete, DeleteThenCreate, NoOp, Update};
        let block = schema(EVERYTHING);
        let a = r#"{"name": "a"}"#;
        let b = r#"{"name": "b"}"#;
        for (prior, planned, replace, force, want) in [
            ("null", a, &[][..], false, Create),
            ("null", a, &["name"], true, Create),
            (a, a, &[], false, NoOp),
            (a, b, &[], false, Update),
            // A plan whose only change is that something becomes unknown is an update.
            (a, r#"{"name": "??"}"#, &[], false, Update),
            (a, b, &["name"], false, DeleteThenCreate),
            (a, a, &[], true, DeleteThenCreate),
            (a, b, &[], true, DeleteThenCreate),
            (a, a, &["pw"], false, DeleteThenCreate),
        ] {
            let decision = Decision {
                block: &block,
                prior: &object(&block, prior),
                planned: &object(&block, planned),
                replace_paths: &replace.iter().map(|p| path(p)).collect::<Vec<_>>(),
                force,
                create_before_destroy: false,
            };
            assert_eq!(
                decide(decision),
                want,
                "{prior} to {planned}, {replace:?}, {force}"
            );
            let created_first = decide(Decision {
                create_before_destroy: true,
                ..decision
            });
            let want = if want == DeleteThenCreate {
                CreateThenDelete
            } else {
                want
            };
            assert_eq!(created_first, want);
        }
    }
}
