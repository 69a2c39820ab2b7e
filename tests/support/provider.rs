//! Provider plugins to drive.

use std::path::{Path, PathBuf};

/// The plugin of this repository that misbehaves when told to.
pub(crate) fn fake_provider() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fake-provider"))
}

/// A plugin built by `make setup` from `tests/providers`, by its short name, such as `random`.
///
/// Without it the test is skipped, by `let Some(…) = … else { return }`; with `CI` set that is a failure.
pub(crate) fn real_provider(name: &str) -> Option<PathBuf> {
    let repo = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = repo.join(format!("tests/providers/bin/terraform-provider-{name}"));
    if path.exists() {
        return Some(path);
    }
    skip(&format!(
        "{} is not built; run `make setup`",
        path.display()
    ));
    None
}

/// Says on stderr that the running test is skipped. In CI nothing may be.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no other way to know that they run in CI"
)]
pub(crate) fn skip(reason: &str) {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!ci, "a skipped test in CI: {reason}");
    let thread = std::thread::current();
    eprintln!("skipped: {}: {reason}", thread.name().unwrap_or("a test"));
}
