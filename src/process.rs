//! Start child processes; the one place that does.
