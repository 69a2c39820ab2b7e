//! `nivis import`.

use std::time::Duration;

use crate::addr::Id;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::report::{self, Exit};
use crate::cli::ui::Ui;
use crate::cli::{env, stack};
use crate::ops;
use crate::ops::import::ImportRun;
use crate::ops::stack::Store;

/// Take an existing object over: record it as the object of a declared resource. The object stays as it is; the next plan
/// compares it with the configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the resource that is to manage the object.
    id: String,

    /// The provider's own id of the object; the provider's documentation tells its form.
    real_id: String,

    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    lock: LockArgs,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let stack = stack::stack(&args.stack)?;
    let pool = stack::pool(&stack)?;
    let timeout = Duration::from_secs(args.lock.lock_timeout);
    let mut session = stack.open("import", &env::who(), timeout)?;
    report::show(ui, session.recovered().into());
    let id = Id::from(args.id.as_str());
    let builder = stack::builder(&stack)?;
    let mut phases = stack.phases(session.state(), Store::Write)?;
    let run = ImportRun {
        id: &id,
        real_id: &args.real_id,
        pool: &pool,
        builder: &builder,
    };
    let imported = ops::import::import(run, &mut session, &mut phases).await;
    pool.shutdown_all().await;
    session.close()?;
    report::show(ui, imported?);
    ui.err(&format!(
        "{id} is imported: `nivis plan` compares it with the configuration.\n"
    ));
    Ok(Exit::Success)
}
