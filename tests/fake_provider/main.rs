//! A provider plugin that misbehaves when told to: the test suite's counterpart.

fn main() {}
