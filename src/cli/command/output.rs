//! `nivis output`.

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::Diagnostic;
use crate::ops::output::{Form, outputs};

/// Show the stack's outputs as the last apply left them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,

    /// Only this output, sensitive or not.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// As JSON; sensitive values included.
    #[arg(long, conflicts_with = "raw")]
    json: bool,

    /// The plain text of one string, number or boolean output.
    #[arg(long, requires = "name")]
    raw: bool,
}

pub(crate) fn run(args: &Args, ui: Ui) -> Ended {
    let state = stack::stack(&args.stack)?.read_state()?;
    if let Some(name) = args
        .name
        .as_deref()
        .filter(|n| !state.outputs.contains_key(*n))
    {
        let d = Diagnostic::error("Output not found")
            .detail(format!("the state has no output `{name}`"));
        let d = d.hint("outputs are recorded by `nivis apply`");
        return Err(d
            .suggest(name, state.outputs.keys().map(String::as_str))
            .into());
    }
    let form = match (args.json, args.raw) {
        (true, _) => Form::Json,
        (_, true) => Form::Raw,
        _ => Form::Text,
    };
    ui.out(&outputs(&state, args.name.as_deref(), form)?);
    Ok(Exit::Success)
}
