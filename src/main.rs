//! The `nivis` binary: a doorstep to [`nivis::cli::run`].

fn main() -> std::process::ExitCode {
    nivis::cli::run()
}
