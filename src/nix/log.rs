//! Lines of Nix's `internal-json` log (pure).

use serde::Deserialize;

/// What one line on stderr means.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// The error that ends the run.
    Failure(NixFailure),
    /// A warning, trace or build log line for the author; may have several lines.
    Message(String),
    /// Not a log line: something else wrote to stderr.
    Plain(String),
    /// Of no interest.
    Ignored,
}

/// An error as Nix reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NixFailure {
    /// The message.
    pub(super) message: String,
    /// What Nix prints after it: position, source lines, suggestions, trace; may be empty.
    pub(super) context: String,
}

#[derive(Deserialize)]
struct Event {
    action: String,
    level: Option<u8>,
    msg: Option<String>,
    raw_msg: Option<String>,
    text: Option<String>,
    #[serde(rename = "type")]
    kind: Option<u64>,
    fields: Option<Vec<serde_json::Value>>,
}

/// `result` events of this type carry a line of a build log.
const BUILD_LOG_LINE: u64 = 101;

/// `start` events of these types say that a path is copied from another store, and that a derivation is built.
const BEGINNINGS: [u64; 2] = [100, 105];

/// Messages above this level are chatter: 0 is errors and traces, 1 warnings, 2 notices.
const LOUDEST_LEVEL: u8 = 2;

pub(super) fn parse(line: &str) -> Line {
    let Some(json) = line.strip_prefix("@nix ") else {
        return Line::Plain(without_colours(line));
    };
    let Ok(event) = serde_json::from_str::<Event>(json) else {
        return Line::Plain(line.to_owned());
    };
    match event.action.as_str() {
        "msg" if event.level.unwrap_or(0) <= LOUDEST_LEVEL => message(event),
        "start" if event.kind.is_some_and(|kind| BEGINNINGS.contains(&kind)) => event
            .text
            .filter(|text| !text.is_empty())
            .map_or(Line::Ignored, Line::Message),
        "result" if event.kind == Some(BUILD_LOG_LINE) => event
            .fields
            .and_then(|fields| Some(fields.first()?.as_str()?.to_owned()))
            .map_or(Line::Ignored, Line::Message),
        _ => Line::Ignored,
    }
}

fn message(event: Event) -> Line {
    let text = without_colours(&event.msg.unwrap_or_default());
    if event.level == Some(0) {
        if let Some(raw) = event.raw_msg {
            let message = without_colours(&raw).trim_end().to_owned();
            return Line::Failure(NixFailure {
                context: context(&text, &message),
                message,
            });
        }
        // Errors that do not come from the evaluator have a text only.
        if let Some(message) = text.strip_prefix("error: ") {
            return Line::Failure(NixFailure {
                message: message.trim_end().to_owned(),
                ..NixFailure::default()
            });
        }
        if text.starts_with("(use '--show-trace'") {
            return Line::Ignored;
        }
    }
    Line::Message(text)
}

/// The error in lines that bypassed the log, as a stack overflow does.
pub(super) fn plain_failure(lines: &str) -> Option<NixFailure> {
    let start = lines.match_indices("error: ").map(|(i, _)| i);
    let at_line_start = |i: &usize| *i == 0 || lines[..*i].ends_with('\n');
    let message = &lines[start.filter(at_line_start).last()? + "error: ".len()..];
    Some(NixFailure {
        message: message.to_owned(),
        ..NixFailure::default()
    })
}

/// What follows `message` in `text`, which newer Nix starts with the trace and older Nix ends with it; outdented.
fn context(text: &str, message: &str) -> String {
    let rest = text
        .rfind(message)
        .map_or("", |i| &text[i + message.len()..]);
    let lines = rest.lines().skip_while(|line| line.trim().is_empty());
    let lines: Vec<_> = lines
        .map(|line| line.strip_prefix("       ").unwrap_or(line).trim_end())
        .collect();
    lines.join("\n").trim_end().to_owned()
}

/// Text without terminal escape sequences.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.strip_prefix('[').and_then(|sequence| {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic())?;
            Some(&sequence[end + 1..])
        });
        plain.push_str(rest.unwrap_or(part));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_by_action_and_level() {
        let message = |text: &str| Line::Message(text.to_owned());
        let table = [
            (
                r#"@nix {"action":"msg","level":0,"msg":"trace: one\ntwo"}"#,
                message("trace: one\ntwo"),
            ),
            (
                r#"@nix {"action":"msg","level":1,"msg":"\u001b[35;1mwarning:\u001b[0m old"}"#,
                message("warning: old"),
            ),
            (
                r#"@nix {"action":"msg","level":4,"msg":"chatter"}"#,
                Line::Ignored,
            ),
            (
                r#"@nix {"action":"msg","level":0,"msg":"(use '--show-trace' to show detailed location information)"}"#,
                Line::Ignored,
            ),
            (
                r#"@nix {"action":"start","id":1,"level":4,"text":"copying","type":0}"#,
                Line::Ignored,
            ),
            (
                r#"@nix {"action":"start","id":1,"level":3,"text":"building '/s/a.drv'","type":105,"fields":["/s/a.drv","",1,1]}"#,
                message("building '/s/a.drv'"),
            ),
            (
                r#"@nix {"action":"result","id":1,"type":101,"fields":["compiling"]}"#,
                message("compiling"),
            ),
            (
                r#"@nix {"action":"result","id":1,"type":105,"fields":[0,0,0,0]}"#,
                Line::Ignored,
            ),
            (
                "error: stack overflow (possible infinite recursion)",
                Line::Plain("error: stack overflow (possible infinite recursion)".into()),
            ),
            ("@nix {not json", Line::Plain("@nix {not json".into())),
        ];
        for (line, expected) in table {
            assert_eq!(parse(line), expected, "{line}");
        }
    }

    #[test]
    fn an_error_is_split_into_message_and_context() {
        let line = r#"@nix {"action":"msg","column":31,"file":"/s/a.nix","level":0,"line":1,"msg":"\u001b[31;1merror:\u001b[0m attribute '\u001b[35;1myy\u001b[0m' missing\n\n       \u001b[34;1mat \u001b[35;1m/s/a.nix:1:31\u001b[0m:\n\n            1| x.yy\n             |   \u001b[31;1m^\u001b[0m\n       Did you mean \u001b[35;1mx\u001b[0m?","raw_msg":"attribute '\u001b[35;1myy\u001b[0m' missing"}"#;
        let Line::Failure(failure) = parse(line) else {
            panic!("not a failure");
        };
        assert_eq!(failure.message, "attribute 'yy' missing");
        assert_eq!(
            failure.context,
            "at /s/a.nix:1:31:\n\n     1| x.yy\n      |   ^\nDid you mean x?"
        );
    }

    #[test]
    fn an_error_after_its_trace_has_the_context_that_follows_it() {
        let line = r#"@nix {"action":"msg","column":null,"file":null,"level":0,"line":null,"msg":"error:\n       … while calling f\n         at /s/a.nix:1:1:\n\n       error: stop","raw_msg":"stop"}"#;
        let expected = NixFailure {
            message: "stop".into(),
            ..NixFailure::default()
        };
        assert_eq!(parse(line), Line::Failure(expected));
    }

    #[test]
    fn an_error_that_is_only_text_is_an_error() {
        let expected = NixFailure {
            message: "map::at".into(),
            ..NixFailure::default()
        };
        let line = r#"@nix {"action":"msg","level":0,"msg":"\u001b[31;1merror:\u001b[0m map::at"}"#;
        assert_eq!(parse(line), Line::Failure(expected));
    }

    #[test]
    fn an_error_outside_of_the_log_is_found_in_its_last_lines() {
        let failure = |lines| plain_failure(lines).map(|f| f.message);
        assert_eq!(failure("x\nerror: a\nerror: b\nc"), Some("b\nc".into()));
        assert_eq!(failure("no error: here"), None);
    }

    #[test]
    fn escape_sequences_are_dropped_and_odd_ones_survive_as_text() {
        assert_eq!(without_colours("a\u{1b}[31;1mb\u{1b}[0mc"), "abc");
        assert_eq!(without_colours("a\u{1b}"), "a");
        assert_eq!(without_colours("a\u{1b}[12"), "a[12");
    }
}
