//! One file per verb: its arguments (whose comments are its help) and a call into `ops`.

pub(super) mod apply;
pub(super) mod destroy;
pub(super) mod graph;
pub(super) mod import;
pub(super) mod ir;
pub(super) mod output;
pub(super) mod plan;
pub(super) mod providers;
pub(super) mod refresh;
pub(super) mod show;
pub(super) mod state;
pub(super) mod taint;
pub(super) mod unlock;
pub(super) mod validate;

use super::report::Exit;
use crate::diagnostic::Diagnostics;

/// How a command ends: an exit code, or problems still to be shown.
pub(super) type Ended = Result<Exit, Diagnostics>;
