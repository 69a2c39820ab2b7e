//! A state as text.

use std::fmt::Write as _;

use super::block::block_diff;
use super::diff::{Op, diff};
use super::pair::Pair;
use super::print::{Level, Printer};
use super::style::{Label, Style};
use crate::json::{Mode, ResourceValues, Shape, StateDoc};

/// Every object and output of a state.
pub fn state(state: &StateDoc, style: Style) -> String {
    let Some(values) = &state.values else {
        return "The state is empty.\n".to_owned();
    };
    let printer = Printer { style, all: true };
    let mut parts: Vec<String> = values
        .root_module
        .resources
        .iter()
        .map(|object| resource(object, printer))
        .collect();
    let outputs: Vec<_> = values
        .outputs
        .iter()
        .filter_map(|(name, output)| {
            let sensitive = serde_json::Value::Bool(output.sensitive);
            let pair = Pair::unchanged(output.value.as_ref()?, &sensitive);
            Some((name.clone(), diff(&pair, &Shape::Plain)?))
        })
        .collect();
    if !outputs.is_empty() {
        let mut text = format!("{}\n", style.paint(Label::Strong, "Outputs:"));
        printer.members(
            &mut text,
            &outputs,
            Level {
                indent: 0,
                keep: &[],
                parent: Op::Same,
            },
        );
        parts.push(text);
    }
    parts.join("\n")
}

fn resource(object: &ResourceValues, printer: Printer) -> String {
    let name = &object.name;
    let mut heading = format!("# {}", name.nivis_id);
    if let Some(key) = &object.deposed_key {
        let _ = write!(heading, " (left over from a replacement: {key})");
    }
    if object.tainted {
        heading.push_str(" (tainted: it will be replaced)");
    }
    let keyword = if name.mode == Mode::Data {
        "data"
    } else {
        "resource"
    };
    let mut text = format!("{}\n", printer.style.paint(Label::Strong, &heading));
    let _ = writeln!(text, "{keyword} \"{}\" \"{}\" {{", name.ty, name.name);
    let pair = Pair::unchanged(&object.values, &object.sensitive_values);
    printer.block_body(&mut text, &block_diff(&pair, &object.shape), 2, false);
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::testing::stored;
    use crate::json::{Module, OutputValues, Values};

    const THING: &str = "
        id: string computed
        name: string optional
        tags: map(string) optional
        steps: list(string) optional
        text: string optional
        pw: string optional sensitive";

    const BLOCKS: &str = "
        id: string computed
        block disk list {
          size: number optional
          block part list {
            label: string optional
          }
        }
        block secret set {
          pw: string optional sensitive
        }";

    fn text(values: Values) -> String {
        state(&StateDoc::new(values), Style::new(false))
    }

    #[test]
    fn objects() {
        let object = r#"{"id": "1", "name": "n", "tags": {"a": "1"}, "steps": ["a", "b"],
            "text": "one\ntwo", "pw": "canary"}"#;
        let blocks = r#"{"id": "1", "disk": [{"size": 1, "part": [{"label": "a"}]}],
            "secret": [{"pw": "canary"}]}"#;
        let mut tainted = stored("t", "id: string computed", r#"{"id": "1"}"#);
        tainted.tainted = true;
        let mut deposed = stored("t", "id: string computed", r#"{"id": "2"}"#);
        deposed.deposed_key = Some("0123abcd".to_owned());
        let resources = vec![
            stored("x", THING, object),
            stored("y", BLOCKS, blocks),
            tainted,
            deposed,
        ];
        let root_module = Module { resources };
        insta::assert_snapshot!(text(Values { root_module, ..Values::default() }), @r#"
        # a.test_thing.x
        resource "test_thing" "x" {
            id    = "1"
            name  = "n"
            pw    = (sensitive value)
            steps = [
                "a"
                "b"
            ]
            tags  = {
                a = "1"
            }
            text  = ''
                one
                two
            ''
        }

        # a.test_thing.y
        resource "test_thing" "y" {
            id = "1"

            disk {
                size = 1

                part {
                    label = "a"
                }
            }

            secret {
                (sensitive value)
            }
        }

        # a.test_thing.t (tainted: it will be replaced)
        resource "test_thing" "t" {
            id = "1"
        }

        # a.test_thing.t (left over from a replacement: 0123abcd)
        resource "test_thing" "t" {
            id = "2"
        }
        "#);
    }

    #[test]
    fn outputs() {
        let output = |sensitive, value| OutputValues {
            sensitive,
            value: Some(value),
            ty: None,
        };
        let outputs = [
            (
                "list".to_owned(),
                output(false, serde_json::json!([1, { "a": null }])),
            ),
            (
                "secret".to_owned(),
                output(true, serde_json::json!("canary")),
            ),
        ];
        let outputs = outputs.into();
        insta::assert_snapshot!(text(Values { outputs, ..Values::default() }), @r"
        Outputs:
          list   = [
              1
              {
                  a = null
              }
          ]
          secret = (sensitive value)
        ");
    }

    #[test]
    fn nothing() {
        assert_eq!(text(Values::default()), "The state is empty.\n");
    }
}
