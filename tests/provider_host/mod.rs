//! The provider host against real plugin processes.

mod faults;
mod lab;
mod others;
mod own;
mod stored;
