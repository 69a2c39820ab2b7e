//! Ctrl-C: the first asks everything to come to an end, the second leaves at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::apply::event::Event;
use crate::cli::progress;
use crate::cli::report::Exit;
use crate::cli::ui::Ui;
use crate::provider::Pool;

/// How long providers get to end after the second.
const LEAVE: Duration = Duration::from_secs(5);

/// Watches for SIGINT, SIGTERM and SIGHUP while a command runs.
///
/// The flag it gives is set by the first. Providers are asked to stop then; what they still return is recorded. The second
/// ends the process: the journal holds everything that was recorded, and names what was in flight.
pub(super) fn watch(ui: Ui, pool: Arc<Pool>) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let signals = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ]
    .map(signal);
    let [Ok(int), Ok(term), Ok(hup)] = signals else {
        return stop;
    };
    tokio::spawn(async move {
        let mut signals = [int, term, hup];
        next(&mut signals).await;
        flag.store(true, Ordering::Relaxed);
        progress::show(ui, &Event::Stopping);
        let stopping = Arc::clone(&pool);
        tokio::spawn(async move { stopping.stop_all().await });
        next(&mut signals).await;
        drop(tokio::time::timeout(LEAVE, pool.shutdown_all()).await);
        leave();
    });
    stop
}

async fn next(signals: &mut [Signal; 3]) {
    let [int, term, hup] = signals;
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
        _ = hup.recv() => {}
    }
}

#[expect(
    clippy::exit,
    reason = "the user asked twice; nothing may hold the process back"
)]
fn leave() -> ! {
    std::process::exit(Exit::Interrupted.code().into())
}
