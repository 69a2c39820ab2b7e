//! From the tree of what differs to lines.

use std::fmt::Write as _;

use super::block::{BlockBody, BlockDiff};
use super::diff::{Diff, Op, What};
use super::style::{Label, Style};
use super::text::{count, name, printable, scalar};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    pub(super) style: Style,
    /// Show what does not change as well.
    pub(super) all: bool,
}

/// Attributes that are shown even if they do not change, so that a reader knows which object it is.
const TELLING: [&str; 2] = ["id", "name"];

/// Unchanged lines of text around changed ones.
const CONTEXT_LINES: usize = 3;

impl Printer {
    /// The content of a block at this indent, whose own brace is opened already: attributes, then blocks.
    pub(super) fn block_body(
        self,
        out: &mut String,
        block: &BlockDiff,
        indent: usize,
        telling: bool,
    ) {
        let note = match &block.body {
            BlockBody::Parts { attributes, blocks } => {
                let keep = if telling { &TELLING[..] } else { &[] };
                self.members(
                    out,
                    attributes,
                    Level {
                        indent,
                        keep,
                        parent: block.op,
                    },
                );
                self.blocks(out, blocks, indent);
                return;
            }
            BlockBody::Sensitive => "(sensitive value)",
            BlockBody::Unknown => "(known after apply)",
        };
        self.line(out, indent, Op::Same, note);
    }

    fn blocks(self, out: &mut String, blocks: &[(String, BlockDiff)], indent: usize) {
        let (hidden, shown): (Vec<_>, Vec<_>) = blocks
            .iter()
            .partition(|(_, block)| block.op == Op::Same && !self.all);
        for (label, block) in shown {
            out.push('\n');
            let note = self.note(block.replaces);
            let mut body = String::new();
            self.block_body(&mut body, block, indent + 4, false);
            if body.is_empty() {
                self.line(out, indent, block.op, &format!("{label} {{}}{note}"));
            } else {
                self.line(out, indent, block.op, &format!("{label} {{{note}"));
                out.push_str(&body);
                self.line(out, indent, Op::Same, "}");
            }
        }
        if !hidden.is_empty() {
            out.push('\n');
            self.hidden(out, indent, hidden.len(), "block");
        }
    }

    /// Named parts, their names in one column.
    pub(super) fn members(self, out: &mut String, members: &[(String, Diff)], level: Level<'_>) {
        let Level {
            indent,
            keep,
            parent,
        } = level;
        let is_shown = |(name, diff): &&(String, Diff)| {
            self.all || diff.op != Op::Same || keep.contains(&name.as_str())
        };
        let (shown, hidden): (Vec<_>, Vec<_>) = members.iter().partition(is_shown);
        let width = shown
            .iter()
            .map(|(key, _)| name(key).chars().count())
            .max()
            .unwrap_or(0);
        for (key, diff) in shown {
            let value = self.value(diff, indent, parent);
            self.line(
                out,
                indent,
                diff.op,
                &format!("{:width$} = {value}", name(key)),
            );
        }
        self.hidden(out, indent, hidden.len(), "attribute");
    }

    /// A value that starts on a line of this indent; its last line has no end.
    fn value(self, diff: &Diff, indent: usize, parent: Op) -> String {
        let note = self.note(diff.replaces);
        let gone = if diff.op == Op::Delete && parent == Op::Update {
            " -> null"
        } else {
            ""
        };
        match &diff.what {
            What::Scalar { before, after } => {
                let text = |v: &Option<_>| v.as_ref().map_or_else(|| "null".to_owned(), scalar);
                match diff.op {
                    Op::Update => format!("{} -> {}{note}", text(before), text(after)),
                    Op::Delete => format!("{}{gone}{note}", text(before)),
                    Op::Create | Op::Same => format!("{}{note}", text(after)),
                }
            }
            What::Sensitive { note: None } => format!("(sensitive value){gone}{note}"),
            What::Sensitive { note: Some(change) } => {
                let change = self.style.paint(Label::Faint, &format!(" # {change}"));
                format!("(sensitive value){change}{note}")
            }
            What::Unknown { before: None } => format!("(known after apply){note}"),
            What::Unknown {
                before: Some(before),
            } => {
                let before = self.value(before, indent, Op::Delete);
                format!("{before} -> (known after apply){note}")
            }
            What::JsonSpacing => format!("toJSON (only spaces differ){note}"),
            What::Json(inner) => {
                let json = match &inner.what {
                    What::Object(_) | What::List(_) => self.structure(inner, indent, &note),
                    _ => format!("{}{note}", self.value(inner, indent, Op::Same)),
                };
                format!("toJSON {json}{gone}")
            }
            What::Changed { before, after } => {
                let before = self.value(before, indent, Op::Delete);
                format!(
                    "{before} -> {}{note}",
                    self.value(after, indent, Op::Create)
                )
            }
            What::Text(lines) => format!("{}{gone}", self.text(lines, indent, &note)),
            What::Object(_) | What::List(_) => {
                format!("{}{gone}", self.structure(diff, indent, &note))
            }
        }
    }

    /// An object or list, over several lines.
    fn structure(self, diff: &Diff, indent: usize, note: &str) -> String {
        let mut inside = String::new();
        let (open, close) = match &diff.what {
            What::Object(members) => {
                let level = Level {
                    indent: indent + 4,
                    keep: &[],
                    parent: diff.op,
                };
                self.members(&mut inside, members, level);
                ('{', '}')
            }
            What::List(items) => {
                self.items(&mut inside, items, indent + 4);
                ('[', ']')
            }
            _ => return note.to_owned(),
        };
        if inside.is_empty() {
            format!("{open}{close}{note}")
        } else {
            format!("{open}{note}\n{inside}{:1$}{close}", "", indent + 2)
        }
    }

    /// Elements of a list; unchanged ones are shown next to changed ones only, if they are short.
    fn items(self, out: &mut String, items: &[Diff], indent: usize) {
        let is_changed = |i: usize| items.get(i).is_some_and(|d| d.op != Op::Same);
        let is_shown = |i: usize, item: &Diff| {
            let near = is_changed(i + 1) || i > 0 && is_changed(i - 1);
            self.all || is_changed(i) || near && matches!(item.what, What::Scalar { .. })
        };
        let mut hidden = 0;
        for (i, item) in items.iter().enumerate() {
            if is_shown(i, item) {
                self.hidden(out, indent, std::mem::take(&mut hidden), "element");
                // An element that goes does not become null.
                let value = self.value(item, indent, Op::Same);
                self.line(out, indent, item.op, &value);
            } else {
                hidden += 1;
            }
        }
        self.hidden(out, indent, hidden, "element");
    }

    /// Text over several lines.
    fn text(self, lines: &[(Op, String)], indent: usize, note: &str) -> String {
        let mut out = format!("''{note}\n");
        let is_near = |i: usize| {
            let from = i.saturating_sub(CONTEXT_LINES);
            lines
                .iter()
                .skip(from)
                .take(i - from + CONTEXT_LINES + 1)
                .any(|(op, _)| *op != Op::Same)
        };
        let mut hidden = 0;
        for (i, (op, line)) in lines.iter().enumerate() {
            if self.all || is_near(i) {
                self.hidden(&mut out, indent + 4, std::mem::take(&mut hidden), "line");
                self.line(&mut out, indent + 4, *op, &printable(line));
            } else {
                hidden += 1;
            }
        }
        self.hidden(&mut out, indent + 4, hidden, "line");
        let _ = write!(out, "{:1$}''", "", indent + 2);
        out
    }

    /// One line; `text` may go on over further lines, which are indented already.
    fn line(self, out: &mut String, indent: usize, op: Op, text: &str) {
        let symbol = match op {
            Op::Same => " ".to_owned(),
            Op::Create => self.style.paint(Label::Create, "+"),
            Op::Update => self.style.paint(Label::Update, "~"),
            Op::Delete => self.style.paint(Label::Delete, "-"),
        };
        let line = format!("{:indent$}{symbol} {text}", "");
        out.push_str(line.trim_end());
        out.push('\n');
    }

    fn hidden(self, out: &mut String, indent: usize, n: usize, what: &str) {
        if n > 0 {
            let remark = format!("# ({} hidden)", count(n, &format!("unchanged {what}")));
            self.line(
                out,
                indent,
                Op::Same,
                &self.style.paint(Label::Faint, &remark),
            );
        }
    }

    fn note(self, replaces: bool) -> String {
        if replaces {
            self.style.paint(Label::Replace, " # forces replacement")
        } else {
            String::new()
        }
    }
}

/// Where named parts are printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<'a> {
    pub(super) indent: usize,
    /// Names to show even if they do not change.
    pub(super) keep: &'a [&'a str],
    /// What happens to the whole.
    pub(super) parent: Op,
}
