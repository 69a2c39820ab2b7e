//! Asynchronous clients for synchronous callers, who may themselves run on a runtime.

use std::sync::OnceLock;
use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};

/// A thread for the clients of one backend, from its first question on.
#[derive(Default)]
pub(super) struct Bridge(OnceLock<Runtime>);

impl Bridge {
    /// What the future comes to. An error says why there is no answer.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, String> {
        let runtime = if let Some(runtime) = self.0.get() {
            runtime
        } else {
            let made = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("nivis-state")
                .enable_all()
                .build()
                .map_err(|e| format!("cannot start a thread: {e}"))?;
            self.0.get_or_init(|| made)
        };
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // Nobody is left to tell if this fails.
            let _ = sender.send(future.await);
        });
        receiver
            .recv()
            .map_err(|_| "the client ended without an answer".to_owned())
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Waiting for it is not allowed where another runtime runs.
            runtime.shutdown_background();
        }
    }
}
