//! What `apply` and `destroy` share: lock, plan, ask, carry out, tell.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::apply::applied::Applied;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::report::{self, Exit};
use crate::cli::ui::Ui;
use crate::cli::{env, interrupt, progress, stack};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::fs;
use crate::ops;
use crate::ops::apply::ApplyRun;
use crate::ops::builds::{Builder, needed_to_plan};
use crate::ops::plan::PlanInput;
use crate::ops::stack::{Stack, Store};
use crate::plan::file::PlanFile;
use crate::plan::order::Step;
use crate::plan::stack::PlanOptions;
use crate::provider::Pool;
use crate::render;
use crate::state::{Session, StateError};

/// One run that changes the world.
pub(super) struct Run {
    pub(super) stack: StackArgs,
    pub(super) lock: LockArgs,
    pub(super) options: PlanOptions,
    pub(super) auto_approve: bool,
}

pub(super) async fn run(run: Run, ui: Ui) -> Ended {
    let stack = stack::stack(&run.stack)?;
    carry_out(run, stack, None, ui).await
}

/// Carries out a saved plan, without asking: whoever gives it has seen it.
pub(super) async fn saved(file: PlanFile, given: &StackArgs, lock: LockArgs, ui: Ui) -> Ended {
    let run = Run {
        stack: given.of_plan(&file.origin),
        lock,
        options: file.options.clone(),
        auto_approve: true,
    };
    let mut stack = stack::stack(&run.stack)?;
    stack.vars = file.vars()?;
    carry_out(run, stack, Some(file), ui).await
}

async fn carry_out(run: Run, stack: Stack, saved: Option<PlanFile>, ui: Ui) -> Ended {
    let pool = stack::pool(&stack)?;
    let operation = match &run.options {
        options if options.destroy => "destroy",
        options if options.refresh_only => "refresh",
        _ => "apply",
    };
    match &saved {
        Some(file) => stack.find_state(file)?,
        // Should that take an evaluation, then the one that the run begins with.
        None => stack.backend(Store::Write).map(|_| ())?,
    }
    let mut session = stack.open(
        operation,
        &env::who(),
        Duration::from_secs(run.lock.lock_timeout),
    )?;
    report::show(ui, session.recovered().into());
    let stop = interrupt::watch(ui, std::sync::Arc::clone(&pool));
    let builder = stack::builder(&stack)?;
    let mut phases = match &saved {
        Some(file) => {
            file.check_state(session.state())?;
            stack.resume(file, Store::Write)?
        }
        None => stack.phases(session.state(), Store::Write)?,
    };
    let ended = act(
        &run,
        ui,
        Acting {
            saved,
            session: &mut session,
            phases: &mut phases,
            pool: &pool,
            builder: &builder,
            stop: &stop,
        },
    )
    .await;
    pool.shutdown_all().await;
    report::show(ui, (&session.in_doubt()).into());
    let closed = session
        .close()
        .map_err(|error| rescue(error, &stack.run_folders));
    // Both may have failed, and both are worth telling.
    match (ended, closed) {
        (Err(mut first), Err(second)) => {
            first.extend(second);
            Err(first)
        }
        (ended, closed) => closed.and(ended),
    }
}

/// Puts a state that could be saved nowhere else into a file of its own.
fn rescue(error: StateError, folders: &[PathBuf]) -> Diagnostics {
    let StateError::Unsaved { snapshot, .. } = &error else {
        return error.into();
    };
    let name = format!("nivis-rescued-state-{}.json", std::process::id());
    let mut candidates = folders.iter().map(|folder| folder.join(&name));
    let kept = candidates.find(|path| fs::atomic_write(path, snapshot, fs::PRIVATE).is_ok());
    let mut diagnostics = Diagnostics::from(error);
    if let Some(path) = kept {
        let what = format!("the whole state is in {} instead", path.display());
        diagnostics.push(
            Diagnostic::error("State was rescued")
                .detail(what)
                .hint("make room, then copy it over the state file"),
        );
    }
    diagnostics
}

struct Acting<'a, 'p> {
    /// The plan to carry out, if it is not to be made.
    saved: Option<PlanFile>,
    session: &'a mut Session,
    phases: &'a mut Phases<'p, Diagnostics>,
    pool: &'a Pool,
    builder: &'a Arc<Builder>,
    stop: &'a AtomicBool,
}

/// Plans and applies; and again, as long as that tells of more resources.
async fn act(run: &Run, ui: Ui, mut acting: Acting<'_, '_>) -> Ended {
    let mut told = Told::default();
    // Nobody has seen what comes after a saved plan.
    let asks_later = !run.auto_approve || acting.saved.is_some();
    let mut options = run.options.clone();
    let mut total = match round(run, ui, &options, &mut acting, (false, !run.auto_approve)).await? {
        Round::Declined => {
            ui.err("Nothing was changed.\n");
            return Ok(Exit::Failure);
        }
        Round::Applied { applied, changes } => {
            told.changes = changes;
            applied
        }
    };
    while total.more && total.is_whole() && !acting.stop.load(Ordering::Relaxed) {
        // Objects were read for the first plan, and what was to be replaced is.
        options.refresh = false;
        options.replace.clear();
        match round(run, ui, &options, &mut acting, (true, asks_later)).await {
            Ok(Round::Declined) => {
                told.declined = true;
                ui.err("Nothing more was changed.\n");
                break;
            }
            Ok(Round::Applied { applied, changes }) => {
                told.changes |= changes;
                total.follow(applied);
            }
            Err(problems) => {
                total.diagnostics.extend(problems);
                break;
            }
        }
    }
    told.stopped = acting.stop.load(Ordering::Relaxed);
    Ok(tell(run, ui, told, total, acting.session))
}

/// What came of one plan.
enum Round {
    /// It was not approved.
    Declined,
    /// It was carried out, as far as that went.
    Applied { applied: Applied, changes: bool },
}

/// One plan, carried out if it is approved. `goes_on` says that it comes after another one in the same run, `asks` whether it has
/// to be approved.
async fn round(
    run: &Run,
    ui: Ui,
    options: &PlanOptions,
    acting: &mut Acting<'_, '_>,
    (goes_on, asks): (bool, bool),
) -> Result<Round, Diagnostics> {
    let Acting {
        saved,
        session,
        phases,
        pool,
        builder,
        stop,
    } = acting;
    let plan = if let Some(file) = saved.take() {
        builder.realise(&needed_to_plan(&file.plan.ir))?;
        file.check_providers(pool).await?;
        file.plan
    } else {
        let input = PlanInput {
            state: session.state(),
            pool,
            builder,
            options,
        };
        ops::plan::plan(input, phases).await?
    };
    let doc = ops::document::plan_document(&plan, session.state(), pool).await;
    ui.err(&render::plan(&doc, ui.err_style()));
    report::show(ui, plan.warnings.clone());
    let changes = doc.has_changes();
    if changes && asks && !approved(run, ui, goes_on)? {
        return Ok(Round::Declined);
    }
    let events = |event| progress::show(ui, &event);
    let apply = ApplyRun {
        plan: &plan,
        options,
        pool,
        builder,
        stop,
        events: &events,
    };
    let applied = ops::apply::apply(apply, session, phases).await?;
    Ok(Round::Applied { applied, changes })
}

fn approved(run: &Run, ui: Ui, goes_on: bool) -> Result<bool, Diagnostics> {
    if !ui.can_ask() && goes_on {
        return Err(Diagnostic::error("Cannot ask for approval of the rest")
            .detail("what is planned here came to be known by what was just applied, and standard input is not a terminal")
            .hint("what was done is kept; look at `nivis plan`, then apply again with `--auto-approve`")
            .into());
    }
    if !ui.can_ask() {
        return Err(Diagnostic::error("Cannot ask for approval")
            .detail("standard input is not a terminal")
            .hint("look at the plan first, then run with `--auto-approve`")
            .into());
    }
    let question = match &run.options {
        options if options.destroy => {
            "\nDestroy all of this? There is no way back. Only `yes` is a yes: "
        }
        options if options.refresh_only => "\nRecord this in the state? Only `yes` is a yes: ",
        _ => "\nDo this? Only `yes` is a yes: ",
    };
    Ok(ui.confirm(question))
}

/// What else [`tell`] has to know.
#[derive(Clone, Copy, Default)]
struct Told {
    /// There was something to do.
    changes: bool,
    /// A later plan was not approved.
    declined: bool,
    /// The user asked to stop.
    stopped: bool,
}

fn tell(run: &Run, ui: Ui, told: Told, applied: Applied, session: &Session) -> Exit {
    let failed = told.declined || !applied.is_whole();
    report::show(ui, applied.diagnostics);
    if !applied.left.is_empty() {
        let names: Vec<_> = applied.left.iter().map(step_name).collect();
        ui.err(&format!("not done ({}):\n", names.len()));
        for name in names {
            ui.err(&format!("  {name}\n"));
        }
    }
    let counts = applied.counts;
    let word = match &run.options {
        _ if failed => "Stopped before the end",
        options if options.destroy => "Destroy complete",
        _ => "Apply complete",
    };
    if run.options.refresh_only && !failed {
        ui.err("Refresh complete: nothing was changed in the world.\n");
    } else if failed || told.changes {
        ui.err(&format!(
            "{word}: {}{} added, {} changed, {} destroyed{}.\n",
            some("", counts.imported, " imported, "),
            counts.added,
            counts.changed,
            counts.destroyed,
            some(", ", counts.forgotten, " forgotten")
        ));
    }
    if !failed
        && !run.options.destroy
        && let Ok(text) = ops::output::outputs(session.state(), None, ops::output::Form::Text)
    {
        ui.out(&text);
    }
    match (told.stopped && failed, failed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Failure,
        (false, false) => Exit::Success,
    }
}

/// A count that is only worth telling if there is something.
fn some(before: &str, count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!("{before}{count}{what}"),
    }
}

fn step_name(step: &Step) -> String {
    match step {
        Step::Make(id) => format!("create or update {id}"),
        Step::Unmake(id) => format!("destroy {id}"),
        Step::Forget(id) => format!("forget {id}"),
        Step::UnmakeDeposed(id, key) => format!("destroy {id} (deposed {key})"),
        Step::Read(id) => format!("read {id}"),
        Step::Check(id) => format!("check {id}"),
        Step::Pass => String::new(),
    }
}
