//! Commands that change the state without a plan: lock, change, save.

use std::time::Duration;

use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::ui::Ui;
use crate::cli::{env, report, stack};
use crate::diagnostic::Diagnostics;
use crate::state::Session;

/// Makes a change to the state of a stack while holding its lock. `operation` is what others see who wait for it.
pub(super) fn locked<T>(
    (stack, lock): (&StackArgs, &LockArgs),
    operation: &str,
    ui: Ui,
    change: impl FnOnce(&mut Session) -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    let timeout = Duration::from_secs(lock.lock_timeout);
    let mut session = stack::stack(stack)?.open(operation, &env::who(), timeout)?;
    report::show(ui, session.recovered().into());
    let changed = change(&mut session);
    session.close()?;
    changed
}
