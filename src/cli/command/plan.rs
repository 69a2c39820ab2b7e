//! `nivis plan`.

use std::path::PathBuf;

use crate::cli::args::{PlanArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::report::{self, Exit};
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::ops;
use crate::ops::plan::PlanInput;
use crate::ops::saved::{self, Saving};
use crate::ops::stack::Store;
use crate::render;

/// Show what apply would do; changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    plan: PlanArgs,

    /// Plan the removal of everything in the state.
    #[arg(long, conflicts_with = "refresh_only")]
    destroy: bool,

    /// Exit with 0 if there is nothing to do, 2 if there is, 1 on errors.
    #[arg(long)]
    detailed_exitcode: bool,

    /// Save the plan, for `nivis apply FILE` and `nivis show FILE`. It holds the secrets of the state and of variables;
    /// only its owner may read it.
    #[arg(long, short = 'o', visible_alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let stack = stack::stack(&args.stack)?;
    let pool = stack::pool(&stack)?;
    let options = args.plan.options(args.destroy);
    // Who carries a saved plan out evaluates nothing: the derivations that it builds must be there.
    let store = match args.out {
        Some(_) => Store::Write,
        None => Store::Read,
    };
    // Should that take an evaluation, then the one that the run begins with.
    stack.backend(store)?;
    let state = stack.read_state()?;
    let builder = stack::builder(&stack)?;
    let mut phases = stack.phases(&state, store)?;
    let input = PlanInput {
        state: &state,
        pool: &pool,
        builder: &builder,
        options: &options,
    };
    let planned = ops::plan::plan(input, &mut phases).await;
    let shown = match planned {
        Ok(plan) => {
            let doc = ops::document::plan_document(&plan, &state, &pool).await;
            let saving = Saving {
                plan: &plan,
                state: &state,
                phases: &phases,
                options: &options,
                vars: &stack.vars,
                origin: args.stack.origin(),
                pool: &pool,
            };
            let saved = match &args.out {
                Some(path) => saved::save(path, saving).await,
                None => Ok(()),
            };
            saved.map(|()| (plan, doc))
        }
        Err(problems) => Err(problems),
    };
    pool.shutdown_all().await;
    let (plan, doc) = shown?;
    ui.out(&render::plan(&doc, ui.out_style()));
    report::show(ui, plan.warnings);
    if let Some(path) = &args.out {
        let path = path.display();
        ui.err(&format!(
            "The plan is in {path}. Carry it out with `nivis apply {path}`.\n"
        ));
    }
    Ok(if args.detailed_exitcode && doc.has_changes() {
        Exit::Changes
    } else {
        Exit::Success
    })
}
