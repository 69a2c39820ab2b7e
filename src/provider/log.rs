//! What a plugin writes to its stderr: structured log lines, tagged lines, panics (pure).

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use tracing::Level;

/// Lines of a panic that are kept.
const PANIC_LINES: usize = 100;
/// Plain lines kept to show when the plugin dies without a panic.
const TAIL_LINES: usize = 10;
/// Longest part of one kept line, in characters.
const LINE_CHARS: usize = 1000;

/// Prefixes that give a plain line its level.
const TAGS: [(&str, Level); 5] = [
    ("[TRACE]", Level::TRACE),
    ("[DEBUG]", Level::DEBUG),
    ("[INFO]", Level::INFO),
    ("[WARN]", Level::WARN),
    ("[ERROR]", Level::ERROR),
];

/// One log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// How important it is.
    pub(super) level: Level,
    /// The message and its fields, `key=value`.
    pub(super) text: String,
}

/// Reads the stderr of one plugin and remembers what explains its death.
#[derive(Debug, Default)]
pub(super) struct Log {
    panic: Vec<String>,
    tail: VecDeque<String>,
}

impl Log {
    /// Takes one line without its line break. `None` if it carries nothing or its level is not `wanted`.
    pub(super) fn line(&mut self, line: &str, wanted: impl Fn(Level) -> bool) -> Option<Entry> {
        let line = line.trim_end();
        if line.is_empty() && self.panic.is_empty() {
            return None;
        }
        // Trace output can be hundreds of megabytes: decide on the level before decoding the rest.
        if line.starts_with('{') && named_level(line).is_some_and(|level| !wanted(level)) {
            return None;
        }
        let entry = structured(line).unwrap_or_else(|| self.plain(line));
        wanted(entry.level).then_some(entry)
    }

    /// The panic, or else the last plain lines; the newest last.
    pub(super) fn last_words(&self) -> Vec<String> {
        if self.panic.is_empty() {
            self.tail.iter().cloned().collect()
        } else {
            self.panic.clone()
        }
    }

    fn plain(&mut self, line: &str) -> Entry {
        let text = line.to_owned();
        if let Some((_, level)) = TAGS.iter().find(|(tag, _)| line.starts_with(tag)) {
            return Entry {
                level: *level,
                text,
            };
        }
        let kept: String = line.chars().take(LINE_CHARS).collect();
        if !self.panic.is_empty()
            || line.starts_with("panic: ")
            || line.starts_with("fatal error: ")
        {
            if self.panic.len() < PANIC_LINES {
                self.panic.push(kept);
            }
            return Entry {
                level: Level::ERROR,
                text,
            };
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(kept);
        Entry {
            level: Level::DEBUG,
            text,
        }
    }
}

/// The level a structured line names, found without decoding it. Inside a string the quotes would be escaped.
fn named_level(line: &str) -> Option<Level> {
    const KEY: &str = r#""@level":""#;
    let rest = &line[line.find(KEY)? + KEY.len()..];
    level(&rest[..rest.find('"')?])
}

fn level(name: &str) -> Option<Level> {
    name.parse()
        .ok()
        .filter(|_| name.bytes().all(|b| b.is_ascii_alphabetic()))
}

fn structured(line: &str) -> Option<Entry> {
    if !line.starts_with('{') {
        return None;
    }
    let mut fields: Map<String, Value> = serde_json::from_str(line).ok()?;
    fields.remove("@timestamp");
    let level = fields.remove("@level");
    let level = level.as_ref().and_then(Value::as_str).and_then(self::level);
    let Some(level) = level else {
        return Some(Entry {
            level: Level::DEBUG,
            text: line.to_owned(),
        });
    };
    let mut text = match fields.remove("@message") {
        Some(Value::String(message)) => message,
        _ => String::new(),
    };
    for (key, value) in &fields {
        // Writing to a string cannot fail.
        let _ = write!(text, " {key}={value}");
    }
    Some(Entry { level, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: &str) -> Option<(Level, String)> {
        Log::default()
            .line(line, |_| true)
            .map(|e| (e.level, e.text))
    }

    #[test]
    fn reads_each_form_of_line() {
        let cases = [
            (
                r#"{"@level":"warn","@message":"slow","@timestamp":"2024-01-01T00:00:00.000000Z","@module":"sdk","n":1}"#,
                Level::WARN,
                r#"slow @module="sdk" n=1"#,
            ),
            (r#"{"@message":"hi","@level":"INFO"}"#, Level::INFO, "hi"),
            (
                r#"{"@level":"loud","@message":"x"}"#,
                Level::DEBUG,
                r#"{"@level":"loud","@message":"x"}"#,
            ),
            (
                r#"{"@level":"5","@message":"x"}"#,
                Level::DEBUG,
                r#"{"@level":"5","@message":"x"}"#,
            ),
            (r#"{"a":1}"#, Level::DEBUG, r#"{"a":1}"#),
            ("{not json", Level::DEBUG, "{not json"),
            ("[ERROR] it broke", Level::ERROR, "[ERROR] it broke"),
            ("[WARN] careful", Level::WARN, "[WARN] careful"),
            ("just text\r", Level::DEBUG, "just text"),
        ];
        for (line, level, text) in cases {
            assert_eq!(entry(line), Some((level, text.to_owned())), "{line}");
        }
        assert_eq!(entry("  "), None);
    }

    #[test]
    fn drops_what_is_not_wanted() {
        let mut log = Log::default();
        let wanted = |level| level <= Level::WARN;
        for line in [
            r#"{"@level":"trace","@message":"x"}"#,
            r#"{"@message":"x","@level":"debug"}"#,
            r#"{"@caller":"f.go:1","@level":"trace", but not JSON"#,
            "[INFO] x",
            "text",
        ] {
            assert_eq!(log.line(line, wanted), None, "{line}");
        }
        assert_eq!(log.last_words(), ["text"]);
        let quoting = r#"{"@message":"says \"@level\":\"trace\"","@level":"warn"}"#;
        assert!(log.line(quoting, wanted).is_some());
    }

    #[test]
    fn keeps_a_panic_with_its_stack_and_nothing_else() {
        let mut log = Log::default();
        for line in ["starting", "panic: boom", "", "goroutine 1 [running]:"] {
            log.line(line, |_| false);
        }
        log.line("[DEBUG] unrelated", |_| false);
        assert_eq!(
            log.last_words(),
            ["panic: boom", "", "goroutine 1 [running]:"]
        );
        for i in 0..1000 {
            log.line(&format!("frame {i}"), |_| false);
        }
        assert_eq!(log.last_words().len(), PANIC_LINES);
    }

    #[test]
    fn keeps_the_last_plain_lines_only() {
        let mut log = Log::default();
        for i in 0..100 {
            log.line(&format!("line {i}"), |_| false);
        }
        let words = log.last_words();
        assert_eq!(words.len(), TAIL_LINES);
        assert_eq!(words.last().map(String::as_str), Some("line 99"));
    }
}
