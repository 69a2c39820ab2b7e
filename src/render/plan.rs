//! A plan as text.

use std::fmt::Write as _;

use super::block::block_diff;
use super::diff::{Op, diff};
use super::pair::Pair;
use super::print::{Level, Printer};
use super::style::{Label, Style};
use super::text::count;
use crate::json::{Change, Importing, Mode, PlanDoc, ResourceChange, Shape};

/// The whole text of a plan: drift, changes, outputs, builds, summary. Warnings are left to whoever reports problems.
pub fn plan(plan: &PlanDoc, style: Style) -> String {
    let printer = Printer { style, all: false };
    let mut text = String::new();
    let drift: Vec<_> = plan
        .resource_drift
        .iter()
        .map(|c| drifted(c, printer))
        .collect();
    section(
        &mut text,
        style,
        "Note: objects have changed outside of nivis",
        &drift,
    );
    let changes = plan.resource_changes.iter().filter(|c| is_shown(c));
    let changes: Vec<_> = changes.map(|c| changed(c, printer)).collect();
    section(&mut text, style, "nivis will do this:", &changes);
    section(
        &mut text,
        style,
        "Changes to outputs:",
        &outputs(plan, printer),
    );
    let builds = plan
        .nivis
        .builds
        .iter()
        .map(|build| format!("  {}\n    {}\n", build.path, used_by(style, &build.used_by)));
    section(
        &mut text,
        style,
        "To be built:",
        &builds.collect::<Vec<_>>(),
    );
    section(
        &mut text,
        style,
        "More will be planned during apply:",
        &deferred(plan, style),
    );
    text.push_str(&summary(plan, style));
    text
}

fn section(text: &mut String, style: Style, title: &str, parts: &[String]) {
    if !parts.is_empty() {
        text.push_str(&style.paint(Label::Strong, title));
        text.push_str("\n\n");
        for part in parts {
            text.push_str(part);
            text.push('\n');
        }
    }
}

/// The parts that are not there yet, and what stays because of them.
fn deferred(plan: &PlanDoc, style: Style) -> Vec<String> {
    let faint = |text: String| style.paint(Label::Faint, &text);
    let parts = plan.nivis.deferred.iter().map(|part| {
        let verb = if part.waits_for.len() == 1 {
            "is"
        } else {
            "are"
        };
        let after = format!(
            "# more resources after {} {verb} known",
            part.waits_for.join(", ")
        );
        format!("  {}\n    {}\n", part.name, faint(after))
    });
    let kept = plan.nivis.kept.iter().map(|id| {
        let why = "# stays until then: it may be declared there".to_owned();
        format!("  {id}\n    {}\n", faint(why))
    });
    parts.chain(kept).collect()
}

fn used_by(style: Style, users: &[String]) -> String {
    style.paint(Label::Faint, &format!("# for {}", users.join(", ")))
}

fn is_shown(change: &ResourceChange) -> bool {
    !change.change.is_no_op()
        || change.previous_address.is_some()
        || change.change.importing.is_some()
}

/// One change with its heading.
fn changed(change: &ResourceChange, printer: Printer) -> String {
    let style = printer.style;
    let mut text = String::new();
    let id = &change.name.nivis_id;
    let deposed = change
        .deposed
        .as_ref()
        .map(|key| format!(" (left over from a replacement: {key})"));
    let heading = match &change.previous_nivis_id {
        Some(from) if only_moved(change) => format!("# {from} has moved to {id}"),
        _ => format!("# {id}{} {}", deposed.unwrap_or_default(), verdict(change)),
    };
    let _ = writeln!(text, "  {}", style.paint(Label::Strong, &heading));
    for remark in remarks(change) {
        let _ = writeln!(
            text,
            "  {}",
            style.paint(Label::Faint, &format!("# ({remark})"))
        );
    }
    body(&mut text, change, printer);
    text
}

fn body(text: &mut String, change: &ResourceChange, printer: Printer) {
    let name = &change.name;
    let keyword = if name.mode == Mode::Data {
        "data"
    } else {
        "resource"
    };
    let (symbol, label) = symbol(&change.change);
    let margin = " ".repeat(3 - symbol.len());
    let symbol = printer.style.paint(label, symbol);
    let _ = writeln!(
        text,
        "{margin}{symbol} {keyword} \"{}\" \"{}\" {{",
        name.ty, name.name
    );
    let pair = match change.change.actions[..] {
        // The object stays: nothing of it goes.
        ["forget"] => Pair::unchanged(&change.change.before, &change.change.before_sensitive),
        _ => Pair::of(&change.change),
    };
    let block = block_diff(&pair, &change.change.shape);
    printer.block_body(text, &block, 6, true);
    text.push_str("    }\n");
}

fn symbol(change: &Change) -> (&'static str, Label) {
    match change.actions[..] {
        ["create"] => ("+", Label::Create),
        ["update"] => ("~", Label::Update),
        ["delete"] => ("-", Label::Delete),
        ["delete", "create"] => ("-/+", Label::Replace),
        ["create", "delete"] => ("+/-", Label::Replace),
        ["read"] => ("<=", Label::Read),
        ["forget"] => (".", Label::Faint),
        _ => ("", Label::Faint),
    }
}

/// Whether nothing else happens to an object than that it has another id.
fn only_moved(change: &ResourceChange) -> bool {
    change.change.is_no_op() && change.change.importing.is_none()
}

/// What happens, as the end of a sentence about the object.
fn verdict(change: &ResourceChange) -> &'static str {
    match (&change.change.actions[..], change.action_reason) {
        (["create"], _) => "will be created",
        (["update"], _) => "will be updated in place",
        (["delete"], _) => "will be destroyed",
        (["read"], _) => "will be read during apply",
        (["forget"], _) => "will no longer be managed; the object stays",
        ([_, _], Some("replace_because_tainted")) => "is tainted, so it must be replaced",
        ([_, _], Some("replace_by_request")) => "will be replaced, as requested",
        ([_, _], Some("replace_by_triggers")) => "will be replaced because of what triggers it",
        ([_, _], _) => "must be replaced",
        _ => "will be imported",
    }
}

/// What else there is to say.
fn remarks(change: &ResourceChange) -> Vec<String> {
    let reason = match change.action_reason {
        Some("delete_because_no_resource_config") => Some("it is not in the configuration"),
        Some("delete_because_no_module") => Some("its module is not in the configuration"),
        Some("delete_because_wrong_repetition") => Some("the resource is repeated in another way"),
        Some("delete_because_count_index") => Some("its index is beyond the count"),
        Some("delete_because_each_key") => Some("its key is not in the configuration"),
        Some("delete_because_no_move_target") => {
            Some("it has moved to an id that is not in the configuration")
        }
        Some("read_because_config_unknown") => Some("its configuration is not known yet"),
        Some("read_because_dependency_pending") => Some("it depends on a resource that changes"),
        _ => None,
    };
    let moved = change
        .previous_nivis_id
        .as_ref()
        .filter(|_| !only_moved(change))
        .map(|from| format!("moved from {from}"));
    let imported = change.change.importing.as_ref().map(imported_by);
    reason
        .map(|reason| format!("because {reason}"))
        .into_iter()
        .chain(moved)
        .chain(imported)
        .collect()
}

fn imported_by(by: &Importing) -> String {
    match (&by.id, &by.identity) {
        (Some(id), _) => format!("imported by id {}", super::text::quoted(id)),
        (None, identity) => {
            let identity = identity.as_ref().map(ToString::to_string);
            format!("imported by identity {}", identity.unwrap_or_default())
        }
    }
}

/// One object that is not as the state says.
fn drifted(change: &ResourceChange, printer: Printer) -> String {
    let gone = change.change.actions == ["delete"];
    let verdict = if gone { "is gone" } else { "has changed" };
    let heading = format!("# {} {verdict}", change.name.nivis_id);
    let mut text = format!("  {}\n", printer.style.paint(Label::Strong, &heading));
    body(&mut text, change, printer);
    text
}

fn outputs(plan: &PlanDoc, printer: Printer) -> Vec<String> {
    let changes = plan
        .output_changes
        .iter()
        .filter(|(_, change)| !change.is_no_op());
    let members: Vec<_> = changes
        .filter_map(|(name, change)| Some((name.clone(), diff(&Pair::of(change), &Shape::Plain)?)))
        .collect();
    let mut text = String::new();
    let level = Level {
        indent: 2,
        keep: &[],
        parent: Op::Update,
    };
    printer.members(&mut text, &members, level);
    if text.is_empty() {
        Vec::new()
    } else {
        vec![text]
    }
}

fn summary(plan: &PlanDoc, style: Style) -> String {
    let acts = |change: &ResourceChange, action| change.change.actions.contains(&action);
    let number = |action| {
        plan.resource_changes
            .iter()
            .filter(|c| acts(c, action))
            .count()
    };
    let imports = plan
        .resource_changes
        .iter()
        .filter(|c| c.change.importing.is_some())
        .count();
    let moves = plan
        .resource_changes
        .iter()
        .filter(|c| c.previous_address.is_some())
        .count();
    let (add, update, destroy) = (number("create"), number("update"), number("delete"));
    let extra = [
        (imports, "import"),
        (number("read"), "read"),
        (number("forget"), "forget"),
        (moves, "move"),
    ];
    let mut counts: Vec<String> = Vec::new();
    counts.extend(
        extra[..1]
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} to {what}")),
    );
    counts.push(format!("{add} to add"));
    counts.push(format!("{update} to change"));
    counts.push(format!("{destroy} to destroy"));
    counts.extend(
        extra[2..]
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} to {what}")),
    );
    let objects = plan.resource_changes.iter().any(is_shown);
    let line = if plan.nivis.refresh_only && plan.has_changes() {
        "Nothing will be changed in the world; applying this records what was found.".to_owned()
    } else if plan.nivis.refresh_only {
        "No changes. The state matches what was found.".to_owned()
    } else if objects {
        format!("Plan: {}.", counts.join(", "))
    } else if plan.has_changes() {
        "No object will be touched; only outputs change.".to_owned()
    } else {
        "No changes. Your infrastructure matches the configuration.".to_owned()
    };
    let builds = plan.nivis.builds.len();
    let builds = if builds > 0 {
        format!(" {} to build.", count(builds, "derivation"))
    } else {
        String::new()
    };
    format!("{}{builds}\n", style.paint(Label::Strong, &line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::testing::{Case, output};
    use crate::json::{DeferredPart, Extras, PlannedBuild};

    fn text(changes: Vec<ResourceChange>) -> String {
        let doc = PlanDoc {
            resource_changes: changes,
            ..PlanDoc::default()
        };
        plan(&doc, Style::new(false))
    }

    fn one(case: Case<'_>) -> String {
        text(vec![case.named("x")])
    }

    const THING: &str = "
        id: string computed
        name: string optional
        size: number optional
        zone: string optional computed
        on: bool optional
        tags: map(string) optional
        ports: set(number) optional
        steps: list(string) optional
        text: string optional
        pw: string optional sensitive";

    #[test]
    fn nothing_to_do() {
        let same = Case {
            schema: THING,
            action: "no-op",
            before: "{}",
            after: "{}",
            ..Case::default()
        };
        insta::assert_snapshot!(one(same), @"No changes. Your infrastructure matches the configuration.");
    }

    #[test]
    fn creation() {
        let after = r#"{"id": "??", "name": "n", "size": 1.5, "zone": "??", "on": true, "tags": {"Name": "a", "a.b": "${x}"},
            "ports": [80, 22], "steps": [], "text": "one\ntwo\n", "pw": "canary"}"#;
        insta::assert_snapshot!(one(Case { schema: THING, action: "create", after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be created
          + resource "test_thing" "x" {
              + id    = (known after apply)
              + name  = "n"
              + on    = true
              + ports = [
                  + 22
                  + 80
                ]
              + pw    = (sensitive value)
              + size  = 1.5
              + steps = []
              + tags  = {
                  + Name  = "a"
                  + "a.b" = "\${x}"
                }
              + text  = ''
                  + one
                  + two
                ''
              + zone  = (known after apply)
            }

        Plan: 1 to add, 0 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn removal() {
        let before = r#"{"id": "1", "name": "n", "tags": {"Name": "a"}, "ports": [80], "text": "one\ntwo", "pw": "canary"}"#;
        insta::assert_snapshot!(one(Case { schema: THING, action: "delete", before, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be destroyed
          - resource "test_thing" "x" {
              - id    = "1"
              - name  = "n"
              - ports = [
                  - 80
                ]
              - pw    = (sensitive value)
              - tags  = {
                  - Name = "a"
                }
              - text  = ''
                  - one
                  - two
                ''
            }

        Plan: 0 to add, 0 to change, 1 to destroy.
        "#);
    }

    #[test]
    fn update_of_scalars() {
        let before = r#"{"id": "1", "name": "n", "size": 1, "zone": "z", "text": "gone", "steps": ["a"], "pw": "canary1"}"#;
        let after = r#"{"id": "1", "name": "n", "size": 2, "zone": "??", "on": false, "steps": ["a"], "pw": "canary2"}"#;
        insta::assert_snapshot!(one(Case { schema: THING, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id   = "1"
                name = "n"
              + on   = false
              ~ pw   = (sensitive value)
              ~ size = 1 -> 2
              - text = "gone" -> null
              ~ zone = "z" -> (known after apply)
                # (1 unchanged attribute hidden)
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn update_of_collections() {
        let before = r#"{"id": "1", "tags": {"a": "1", "b": "1", "c": "1"}, "ports": [22, 80], "steps": ["a", "b", "c", "d", "e"]}"#;
        let after = r#"{"id": "1", "tags": {"a": "1", "b": "2", "d": "??"}, "ports": [80, 443], "steps": ["a", "c", "d", "e", "f"]}"#;
        insta::assert_snapshot!(one(Case { schema: THING, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id    = "1"
              ~ ports = [
                  - 22
                    80
                  + 443
                ]
              ~ steps = [
                    "a"
                  - "b"
                    "c"
                    # (1 unchanged element hidden)
                    "e"
                  + "f"
                ]
              ~ tags  = {
                  ~ b = "1" -> "2"
                  - c = "1" -> null
                  + d = (known after apply)
                    # (1 unchanged attribute hidden)
                }
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn collections_that_come_and_go() {
        let before = r#"{"id": "1", "tags": {"a": "1"}, "steps": ["a"], "ports": []}"#;
        let after = r#"{"id": "1", "ports": [1], "steps": [], "tags": null}"#;
        insta::assert_snapshot!(one(Case { schema: THING, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id    = "1"
              ~ ports = [
                  + 1
                ]
              ~ steps = [
                  - "a"
                ]
              - tags  = {
                  - a = "1"
                } -> null
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
        let unknown = r#"{"id": "1", "tags": "??", "steps": ["??", "a"], "ports": ["??"]}"#;
        insta::assert_snapshot!(one(Case { schema: THING, before, after: unknown, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id    = "1"
              ~ ports = [
                  + (known after apply)
                ]
              ~ steps = [
                  + (known after apply)
                    "a"
                ]
              ~ tags  = {
                  - a = "1"
                } -> (known after apply)
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn replacement() {
        let before = r#"{"id": "1", "name": "n", "tags": {"a": "1"}, "steps": ["a"], "pw": "canary1", "text": "a\nb"}"#;
        let after = r#"{"id": "??", "name": "m", "tags": {"a": "2"}, "steps": ["b"], "pw": "canary2", "text": "a\nc"}"#;
        let replace = ["name", r#"tags["a"]"#, "steps", "pw", "text"];
        insta::assert_snapshot!(one(Case { schema: THING, action: "replace", before, after, replace: &replace, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x must be replaced
        -/+ resource "test_thing" "x" {
              ~ id    = "1" -> (known after apply)
              ~ name  = "n" -> "m" # forces replacement
              ~ pw    = (sensitive value) # forces replacement
              ~ steps = [ # forces replacement
                  - "a"
                  + "b"
                ]
              ~ tags  = {
                  ~ a = "1" -> "2" # forces replacement
                }
              ~ text  = '' # forces replacement
                    a
                  - b
                  + c
                ''
            }

        Plan: 1 to add, 0 to change, 1 to destroy.
        "#);
    }

    #[test]
    fn ends_of_text() {
        let before = r#"{"id": "1", "text": "a\nb\n", "name": "one line\n", "zone": "a\nb"}"#;
        let after = r#"{"id": "1", "text": "a\nc\n", "name": "other line\n", "zone": "a\nb\n"}"#;
        insta::assert_snapshot!(one(Case { schema: THING, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id   = "1"
              ~ name = ''
                  - one line
                  + other line
                ''
              ~ text = ''
                    a
                  - b
                  + c
                ''
              ~ zone = ''
                    a
                    b
                  +
                ''
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn text_by_line_and_json_by_structure() {
        let lines = |change: &str| {
            (0..20)
                .map(|i| {
                    if i == 9 {
                        change.to_owned()
                    } else {
                        format!("line {i}")
                    }
                })
                .collect::<Vec<_>>()
                .join("\\n")
        };
        let before = format!(
            r#"{{"id": "1", "text": "{}", "name": "{{\"a\": 1, \"b\": [1, 2], \"c\": {{\"d\": null}}}}"}}"#,
            lines("old")
        );
        let after = format!(
            r#"{{"id": "1", "text": "{}", "name": "{{\"a\":2,\"b\":[1,2,3],\"c\":{{\"d\":\"e\"}}}}"}}"#,
            lines("new")
        );
        insta::assert_snapshot!(one(Case { schema: THING, before: &before, after: &after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id   = "1"
              ~ name = toJSON {
                  ~ a = 1 -> 2
                  ~ b = [
                        # (1 unchanged element hidden)
                        2
                      + 3
                    ]
                  ~ c = {
                      ~ d = null -> "e"
                    }
                }
              ~ text = ''
                    # (6 unchanged lines hidden)
                    line 6
                    line 7
                    line 8
                  - old
                  + new
                    line 10
                    line 11
                    line 12
                    # (7 unchanged lines hidden)
                ''
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
        let before = r#"{"id": "1", "text": "{\"a\": 1}", "name": "[1]"}"#;
        let after = r#"{"id": "1", "text": "{\"a\":1}", "name": "plain"}"#;
        insta::assert_snapshot!(one(Case { schema: THING, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id   = "1"
              ~ name = "[1]" -> "plain"
              ~ text = toJSON (only spaces differ)
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    const NESTED: &str = "
        id: string computed
        any: any optional
        obj: object(a: string, b: string) optional
        rules: list optional {
          id: string computed
          port: number optional
          note: string optional
        }
        users: set optional {
          name: string optional
        }
        by: map optional {
          on: bool optional
        }
        one: single optional {
          x: string optional
        }";

    #[test]
    fn nested_attributes() {
        let before = r#"{"id": "1", "obj": {"a": "1", "b": "1"}, "rules": [{"id": "1", "port": 1}, {"id": "2", "port": 2}],
            "users": [{"name": "a"}, {"name": "b"}], "by": {"k": {"on": true}, "l": {"on": true}}}"#;
        let after = r#"{"id": "1", "obj": {"a": "2", "b": null}, "rules": [{"id": "1", "port": 1}, {"id": "2", "port": 3}, {"id": "??", "port": 4}],
            "users": [{"name": "b"}, {"name": "c"}], "by": {"k": {"on": false}, "l": {"on": true}}, "one": {"x": "??"}}"#;
        insta::assert_snapshot!(one(Case { schema: NESTED, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
              ~ by    = {
                  ~ k = {
                      ~ on = true -> false
                    }
                    # (1 unchanged attribute hidden)
                }
                id    = "1"
              ~ obj   = {
                  ~ a = "1" -> "2"
                  ~ b = "1" -> null
                }
              + one   = {
                  + x = (known after apply)
                }
              ~ rules = [
                    # (1 unchanged element hidden)
                  ~ {
                      ~ port = 2 -> 3
                        # (1 unchanged attribute hidden)
                    }
                  + {
                      + id   = (known after apply)
                      + port = 4
                    }
                ]
              ~ users = [
                  - {
                      - name = "a"
                    }
                    # (1 unchanged element hidden)
                  + {
                      + name = "c"
                    }
                ]
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn dynamic_values_that_change_their_kind() {
        let before =
            r#"{"id": "1", "any": {"a": [1, {"b": null}], "c": "x", "d": 1, "e": [1, 2]}}"#;
        let after = r#"{"id": "1", "any": {"a": [1, {"b": "y"}, 2], "c": ["x"], "d": "1", "e": "??", "f": null}}"#;
        insta::assert_snapshot!(one(Case { schema: NESTED, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
              ~ any = {
                  ~ a = [
                        1
                      ~ {
                          ~ b = null -> "y"
                        }
                      + 2
                    ]
                  ~ c = "x" -> [
                      + "x"
                    ]
                  ~ d = 1 -> "1"
                  ~ e = [
                      - 1
                      - 2
                    ] -> (known after apply)
                  + f = null
                }
                id  = "1"
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    const BLOCKS: &str = "
        id: string computed
        block one single {
          x: string optional
        }
        block group group {
          x: string optional
        }
        block disk list {
          id: string computed
          size: number optional
          block part list {
            label: string optional
          }
        }
        block rule set {
          port: number optional
        }
        block zone map {
          x: string optional
        }
        block secret set {
          pw: string optional sensitive
        }";

    #[test]
    fn blocks_of_a_new_object() {
        let after = r#"{"id": "??", "one": {"x": "a"}, "disk": [{"id": "??", "size": 1, "part": [{"label": "a"}]}, {"size": 2}],
            "rule": [{"port": 1}], "zone": {"k": {"x": "a"}}, "secret": [{"pw": "canary"}]}"#;
        insta::assert_snapshot!(one(Case { schema: BLOCKS, action: "create", after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be created
          + resource "test_thing" "x" {
              + id = (known after apply)

              + disk {
                  + id   = (known after apply)
                  + size = 1

                  + part {
                      + label = "a"
                    }
                }

              + disk {
                  + size = 2
                }

              + one {
                  + x = "a"
                }

              + rule {
                  + port = 1
                }

              + secret {
                    (sensitive value)
                }

              + zone "k" {
                  + x = "a"
                }
            }

        Plan: 1 to add, 0 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn blocks_that_change() {
        let before = r#"{"id": "1", "one": {"x": "a"}, "group": {"x": "a"}, "disk": [{"id": "1", "size": 1}, {"id": "2", "size": 2}],
            "rule": [{"port": 1}, {"port": 2}], "zone": {"k": {"x": "a"}, "l": {}}, "secret": [{"pw": "canary1"}]}"#;
        let after = r#"{"id": "1", "group": {"x": "b"}, "disk": [{"id": "1", "size": 1}, {"id": "2", "size": 3, "part": [{"label": "new"}]}],
            "rule": [{"port": 2}, {"port": 3}], "zone": {"k": {"x": "b"}, "l": {}, "m": {}}, "secret": [{"pw": "canary2"}]}"#;
        insta::assert_snapshot!(one(Case { schema: BLOCKS, action: "replace", before, after, replace: &["disk[1].size", "one"], ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x must be replaced
        -/+ resource "test_thing" "x" {
                id = "1"

              ~ disk {
                  ~ size = 2 -> 3 # forces replacement
                    # (1 unchanged attribute hidden)

                  + part {
                      + label = "new"
                    }
                }

              ~ group {
                  ~ x = "a" -> "b"
                }

              - one { # forces replacement
                  - x = "a"
                }

              - rule {
                  - port = 1
                }

              + rule {
                  + port = 3
                }

              ~ secret {
                    (sensitive value)
                }

              ~ zone "k" {
                  ~ x = "a" -> "b"
                }

              + zone "m" {}

                # (3 unchanged blocks hidden)
            }

        Plan: 1 to add, 0 to change, 1 to destroy.
        "#);
    }

    #[test]
    fn unknown_blocks() {
        let before = r#"{"id": "1", "disk": [{"size": 1}]}"#;
        let after = r#"{"id": "1", "one": "??", "disk": "??", "rule": ["??"]}"#;
        insta::assert_snapshot!(one(Case { schema: BLOCKS, before, after, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id = "1"

              ~ disk {
                    (known after apply)
                }

              + one {
                    (known after apply)
                }

              + rule {
                    (known after apply)
                }
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    fn sensitivity_that_changes() {
        let before = r#"{"id": "1", "name": "a", "tags": {"a": "canary", "b": "1"}, "steps": ["canary", "x"]}"#;
        let after = r#"{"id": "1", "name": "canary", "tags": {"a": "1", "b": "2"}, "steps": ["canary2", "x"]}"#;
        let sensitive = [&[r#"tags["a"]"#, "steps[0]"][..], &["name", "steps[0]"]];
        insta::assert_snapshot!(one(Case { schema: THING, before, after, sensitive, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id    = "1"
              ~ name  = (sensitive value) # becomes sensitive
              ~ steps = [
                  - (sensitive value)
                  + (sensitive value)
                    "x"
                ]
              ~ tags  = {
                  ~ a = (sensitive value) # no longer sensitive
                  ~ b = "1" -> "2"
                }
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
        "#);
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn every_kind_of_change_has_its_heading() {
        let change = |name: &str, action: &'static str, reason| {
            let object = r#"{"id": "1"}"#;
            let (before, after) = match action {
                "create" | "read" => ("null", object),
                "delete" | "forget" => (object, "null"),
                _ => (object, object),
            };
            let case = Case {
                schema: "id: string computed",
                action,
                before,
                after,
                ..Case::default()
            };
            ResourceChange {
                action_reason: reason,
                ..case.named(name)
            }
        };
        let mut imported = change("imported", "no-op", None);
        imported.change.importing = Some(Importing {
            id: Some("i-1".to_owned()),
            identity: None,
        });
        let mut identified = change("identified", "update", None);
        identified.change.importing = Some(Importing {
            id: None,
            identity: Some(serde_json::json!({"name": "i"})),
        });
        let moved = |change| ResourceChange {
            previous_address: Some("test_thing.old".to_owned()),
            previous_nivis_id: Some("a.test_thing.old".to_owned()),
            ..change
        };
        let text = text(vec![
            change("created", "create", None),
            change("updated", "update", None),
            change("destroyed", "delete", None),
            change(
                "removed",
                "delete",
                Some("delete_because_no_resource_config"),
            ),
            change("replaced", "replace", Some("replace_because_cannot_update")),
            change("tainted", "replace", Some("replace_because_tainted")),
            change("wanted", "replace", Some("replace_by_request")),
            change("data", "read", Some("read_because_config_unknown")),
            change("forgotten", "forget", None),
            ResourceChange {
                deposed: Some("0123abcd".to_owned()),
                ..change("deposed", "delete", None)
            },
            moved(change("moved", "no-op", None)),
            moved(change("moving", "update", None)),
            imported,
            identified,
            change("kept", "no-op", None),
        ]);
        let headings: Vec<&str> = text
            .lines()
            .filter(|l| !l.is_empty() && !l.ends_with(['}', ':']) && !l.contains(" = "))
            .collect();
        insta::assert_snapshot!(headings.join("\n"), @r#"
          # a.test_thing.created will be created
          + resource "test_thing" "created" {
          # a.test_thing.updated will be updated in place
          ~ resource "test_thing" "updated" {
          # a.test_thing.destroyed will be destroyed
          - resource "test_thing" "destroyed" {
          # a.test_thing.removed will be destroyed
          # (because it is not in the configuration)
          - resource "test_thing" "removed" {
          # a.test_thing.replaced must be replaced
        -/+ resource "test_thing" "replaced" {
          # a.test_thing.tainted is tainted, so it must be replaced
        -/+ resource "test_thing" "tainted" {
          # a.test_thing.wanted will be replaced, as requested
        -/+ resource "test_thing" "wanted" {
          # data.a.test_thing.data will be read during apply
          # (because its configuration is not known yet)
         <= data "test_thing" "data" {
          # a.test_thing.forgotten will no longer be managed; the object stays
          . resource "test_thing" "forgotten" {
          # a.test_thing.deposed (left over from a replacement: 0123abcd) will be destroyed
          - resource "test_thing" "deposed" {
          # a.test_thing.old has moved to a.test_thing.moved
            resource "test_thing" "moved" {
          # a.test_thing.moving will be updated in place
          # (moved from a.test_thing.old)
          ~ resource "test_thing" "moving" {
          # a.test_thing.imported will be imported
          # (imported by id "i-1")
            resource "test_thing" "imported" {
          # a.test_thing.identified will be updated in place
          # (imported by identity {"name":"i"})
          ~ resource "test_thing" "identified" {
        Plan: 2 to import, 4 to add, 3 to change, 6 to destroy, 1 to forget, 2 to move.
        "#);
    }

    #[test]
    fn a_forgotten_object_keeps_everything() {
        let before = r#"{"id": "1", "name": "n"}"#;
        insta::assert_snapshot!(one(Case { schema: THING, action: "forget", before, ..Case::default() }), @r#"
        nivis will do this:

          # a.test_thing.x will no longer be managed; the object stays
          . resource "test_thing" "x" {
                id   = "1"
                name = "n"
            }

        Plan: 0 to add, 0 to change, 0 to destroy, 1 to forget.
        "#);
    }

    #[test]
    fn outputs_builds_drift_and_deferred_parts() {
        let update = Case {
            schema: THING,
            before: r#"{"id": "1", "size": 1}"#,
            after: r#"{"id": "1", "size": 2}"#,
            ..Case::default()
        };
        let gone = Case {
            schema: THING,
            action: "delete",
            before: r#"{"id": "1"}"#,
            ..Case::default()
        };
        let outputs = [
            ("changed", output(r#""a""#, r#"{"b": 1}"#, false)),
            ("gone", output("1", "-", false)),
            ("kept", output("1", "1", false)),
            ("new", output("-", "??", false)),
            ("secret", output(r#""canary1""#, r#""canary2""#, true)),
        ];
        let doc = PlanDoc {
            resource_drift: vec![update.named("drifted"), gone.named("vanished")],
            resource_changes: vec![update.named("x")],
            output_changes: outputs
                .into_iter()
                .map(|(name, change)| (name.to_owned(), change))
                .collect(),
            nivis: Extras {
                refresh_only: false,
                builds: vec![PlannedBuild {
                    path: "/nix/store/abc-image.drv".to_owned(),
                    used_by: vec!["a.test_thing.x".to_owned()],
                }],
                deferred: vec![DeferredPart {
                    name: "resources".to_owned(),
                    waits_for: vec!["a.test_thing.x.id".to_owned()],
                }],
                kept: vec!["a.test_thing.old".to_owned()],
                warnings: Vec::new(),
            },
            ..PlanDoc::default()
        };
        insta::assert_snapshot!(plan(&doc, Style::new(false)), @r#"
        Note: objects have changed outside of nivis

          # a.test_thing.drifted has changed
          ~ resource "test_thing" "drifted" {
                id   = "1"
              ~ size = 1 -> 2
            }

          # a.test_thing.vanished is gone
          - resource "test_thing" "vanished" {
              - id = "1"
            }

        nivis will do this:

          # a.test_thing.x will be updated in place
          ~ resource "test_thing" "x" {
                id   = "1"
              ~ size = 1 -> 2
            }

        Changes to outputs:

          ~ changed = "a" -> {
              + b = 1
            }
          - gone    = 1 -> null
          + new     = (known after apply)
          ~ secret  = (sensitive value)

        To be built:

          /nix/store/abc-image.drv
            # for a.test_thing.x

        More will be planned during apply:

          resources
            # more resources after a.test_thing.x.id is known

          a.test_thing.old
            # stays until then: it may be declared there

        Plan: 0 to add, 1 to change, 0 to destroy. 1 derivation to build.
        "#);
    }

    #[test]
    fn only_outputs_change() {
        let doc = PlanDoc {
            output_changes: [("o".to_owned(), output("1", "2", false))].into(),
            ..PlanDoc::default()
        };
        insta::assert_snapshot!(plan(&doc, Style::new(false)), @r"
        Changes to outputs:

          ~ o = 1 -> 2

        No object will be touched; only outputs change.
        ");
    }

    #[test]
    fn colors_mark_what_happens() {
        let case = Case {
            schema: "id: string computed\nname: string optional",
            action: "replace",
            before: r#"{"id": "1", "name": "a"}"#,
            after: r#"{"id": "??", "name": "b"}"#,
            replace: &["name"],
            ..Case::default()
        };
        let doc = PlanDoc {
            resource_changes: vec![case.named("x")],
            ..PlanDoc::default()
        };
        let colored = plan(&doc, Style::new(true));
        insta::assert_snapshot!(colored.replace('\x1b', "␛"), @r#"
        ␛[1mnivis will do this:␛[0m

          ␛[1m# a.test_thing.x must be replaced␛[0m
        ␛[31m-/+␛[0m resource "test_thing" "x" {
              ␛[33m~␛[0m id   = "1" -> (known after apply)
              ␛[33m~␛[0m name = "a" -> "b"␛[31m # forces replacement␛[0m
            }

        ␛[1mPlan: 1 to add, 0 to change, 1 to destroy.␛[0m
        "#);
        assert_eq!(
            colored
                .split("\x1b[")
                .map(|part| part.split_once('m').map_or(part, |(_, rest)| rest))
                .collect::<String>(),
            plan(&doc, Style::new(false))
        );
    }

    #[test]
    fn values_cannot_write_to_the_terminal() {
        let after = r#"{"name": "\u001b[2J", "text": "\u001b]0;x\u0007\nb", "tags": {"\u001b[31m": "\u202e"}, "steps": ["{\"\u001b\": 1}"]}"#;
        let text = one(Case {
            schema: THING,
            action: "create",
            after,
            ..Case::default()
        });
        assert!(!text.contains(['\x1b', '\u{7}', '\u{202e}']), "{text}");
    }

    #[test]
    fn sensitive_values_are_never_shown() {
        let before = r#"{"pw": "canary", "tags": {"canary": "canary"}}"#;
        let nested = "n: list optional {\n pw: string optional sensitive\n}\nblock b set {\n pw: string optional sensitive\n}";
        for (schema, action, before, after) in [
            (THING, "create", "null", before),
            (THING, "delete", before, "null"),
            (THING, "update", before, r#"{"pw": "canary2"}"#),
            (THING, "update", before, r#"{"pw": "??", "tags": "??"}"#),
            (
                nested,
                "update",
                r#"{"n": [{"pw": "canary"}], "b": [{"pw": "canary"}]}"#,
                r#"{"n": "??", "b": "??"}"#,
            ),
            (
                nested,
                "update",
                r#"{"n": [{"pw": "canary"}], "b": [{"pw": "canary"}]}"#,
                r#"{"n": [], "b": []}"#,
            ),
            (
                nested,
                "create",
                "null",
                r#"{"n": [{"pw": "canary"}], "b": [{"pw": "canary"}, {"pw": "??"}]}"#,
            ),
        ] {
            let text = one(Case {
                schema,
                action,
                before,
                after,
                sensitive: [&["tags"], &["tags"]],
                ..Case::default()
            });
            assert!(!text.contains("canary"), "{text}");
            assert!(text.contains("(sensitive value)"), "{text}");
        }
    }
}
