//! Objects that are taken over and let go of: `moved`, `removed`, `imports`, and the commands for the same.

mod commands;
mod imports;
mod lab;
mod moves;
mod removed;
