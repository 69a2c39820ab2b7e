//! Passes a plugin's stderr on to our own log, and tells its last words.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::Level;

use super::log::Log;

/// Longest line that is read as one.
const LINE_BYTES: u64 = 64 << 10;
/// How long the rest of the output may take to arrive once the process has ended. Its own children may keep the pipe.
const REST_TIMEOUT: Duration = Duration::from_millis(500);

/// What one plugin has printed to stderr so far.
pub(super) struct Stderr(watch::Receiver<Log>);

impl Stderr {
    /// Starts to read `stderr` to its end, line by line; `name` marks the events.
    pub(super) fn follow(stderr: impl AsyncRead + Unpin + Send + 'static, name: String) -> Self {
        let (log, receiver) = watch::channel(Log::default());
        tokio::spawn(forward(stderr, log, name));
        Self(receiver)
    }

    /// The panic of a process that has ended, or else its last plain lines.
    pub(super) async fn last_words(&self) -> Vec<String> {
        let mut log = self.0.clone();
        // Nobody is notified of lines: an error is the end of the output, late output is waited for no longer.
        let _ = timeout(REST_TIMEOUT, log.changed()).await;
        log.borrow().last_words()
    }
}

async fn forward(stderr: impl AsyncRead + Unpin, log: watch::Sender<Log>, name: String) {
    let mut stderr = BufReader::with_capacity(64 << 10, stderr);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let mut limited = (&mut stderr).take(LINE_BYTES);
        match limited.read_until(b'\n', &mut bytes).await {
            Ok(1..) => {}
            _ => return,
        }
        let line = String::from_utf8_lossy(&bytes);
        let mut entry = None;
        log.send_if_modified(|log| {
            entry = log.line(&line, wanted);
            false
        });
        if let Some(entry) = entry {
            emit(entry.level, &name, &entry.text);
        }
    }
}

/// The least important level anyone reads, in the words of the variables that set a plugin's own log level.
pub(super) fn verbosity() -> &'static str {
    match LEVELS.into_iter().rev().find(|level| wanted(*level)) {
        Some(level) => level.as_str(),
        None => "OFF",
    }
}

/// Declares the levels and the two functions that need the level of a tracing event, a constant, from a value.
macro_rules! levels {
    ($($level:ident),*) => {
        /// All levels, the most important first.
        const LEVELS: [Level; 5] = [$(Level::$level),*];

        /// Whether anyone reads provider messages of this level.
        fn wanted(level: Level) -> bool {
            match level {
                $(Level::$level => tracing::enabled!(target: "provider", Level::$level),)*
            }
        }

        fn emit(level: Level, provider: &str, text: &str) {
            match level {
                $(Level::$level => {
                    tracing::event!(target: "provider", Level::$level, provider, "{text}");
                })*
            }
        }
    };
}

levels!(ERROR, WARN, INFO, DEBUG, TRACE);
