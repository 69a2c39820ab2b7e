//! Stack outputs as text.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::json;
use crate::state::{OutputValue, State};
use crate::value::Value;

/// How to write outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `name = value` lines, sensitive values hidden unless one output is asked for by name.
    Text,
    /// One output: its value; all: an object of `{"sensitive", "value"}` by name.
    Json,
    /// One output: the bare text of a string, number or boolean, without a newline.
    Raw,
}

/// The outputs of a state, all or the one called `name`; empty text for none.
pub fn outputs(state: &State, name: Option<&str>, form: Form) -> Result<String, Diagnostics> {
    match name.map(|n| (n, state.outputs.get(n))) {
        Some((name, Some(output))) => one(name, output, form),
        Some((name, None)) => Err(bad(name, "the state has no such output")),
        None if form == Form::Json => all_json(state),
        None => all_text(state),
    }
}

fn one(name: &str, output: &OutputValue, form: Form) -> Result<String, Diagnostics> {
    let value = decode(name, output)?;
    if form != Form::Raw {
        return pretty(name, &value).map(|text| text + "\n");
    }
    match value {
        Value::String(s) => Ok(s.to_string()),
        Value::Number(n) => Ok(n.to_string()),
        Value::Bool(b) => Ok(b.to_string()),
        other => Err(bad(
            name,
            &format!("{} has no raw form; use --json", other.ty()),
        )),
    }
}

fn all_json(state: &State) -> Result<String, Diagnostics> {
    let mut all = Vec::new();
    for (name, output) in &state.outputs {
        let value = decode(name, output)?;
        let entry = Value::object([
            ("sensitive", Value::Bool(output.sensitive)),
            ("value", value),
        ]);
        all.push((name.as_str(), entry));
    }
    pretty("*", &Value::object(all)).map(|text| text + "\n")
}

fn all_text(state: &State) -> Result<String, Diagnostics> {
    let width = state
        .outputs
        .keys()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, output) in &state.outputs {
        let shown = if output.sensitive {
            "(sensitive value)".to_owned()
        } else {
            pretty(name, &decode(name, output)?)?
        };
        text.push_str(&format!("{name:width$} = {shown}\n"));
    }
    Ok(text)
}

fn pretty(name: &str, value: &Value) -> Result<String, Diagnostics> {
    json::pretty(value).map_err(|e| bad(name, &e.to_string()))
}

fn decode(name: &str, output: &OutputValue) -> Result<Value, Diagnostics> {
    json::parse(&output.value).map_err(|e| bad(name, &e.to_string()))
}

fn bad(name: &str, what: &str) -> Diagnostics {
    Diagnostic::error("Cannot show the output")
        .detail(what)
        .at(format!("output.{name}"))
        .into()
}
