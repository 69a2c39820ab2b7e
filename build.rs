//! Build script: protocol definitions to Rust.

fn main() {}
