//! The provider host against real plugin processes.

mod faults;
mod lab;
mod others;
mod reattach;
mod own;
mod rules;
mod stored;
