//! What happens during an apply, for whoever watches.

use std::time::Duration;

use crate::plan::Action;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// Work on one object began.
    Started {
        /// Which object.
        id: String,
        /// What is done to it.
        action: Action,
    },
    /// Work on one object ended well.
    Finished {
        /// Which object.
        id: String,
        /// What was done to it; [`Action::NoOp`] if there turned out to be nothing to do.
        action: Action,
        /// How long it took.
        elapsed: Duration,
        /// The object's `id` attribute, if it has one that may be shown.
        shown_id: Option<String>,
    },
    /// Work on one object failed; the error is in the result.
    Failed {
        /// Which object.
        id: String,
        /// What was tried.
        action: Action,
        /// How long it took.
        elapsed: Duration,
    },
    /// Nix is evaluated again with what is known now.
    Evaluating {
        /// Number of the phase that begins, from 1.
        phase: u64,
        /// How many steps wait for it.
        waiting: usize,
    },
    /// Builds are realised.
    Building {
        /// How many.
        builds: usize,
    },
    /// The user asked to stop: running work ends, no new work begins.
    Stopping,
}
