//! Errors of Nix in the author's terms (pure).

use super::log::NixFailure;

/// An error for the author.
#[derive(Debug, PartialEq)]
pub(super) struct Explained {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// How a derivation that mentions an output must be written.
const INSIDE_DERIVE: &str = "build it inside `derive`, which waits for the output";

/// Says what an evaluation error means for a plan, where Nix cannot know it.
pub(super) fn explain(failure: &NixFailure) -> Explained {
    let message = &failure.message;
    if let Some((key, derivation)) = eaten_reference(message) {
        return Explained {
            message: format!(
                "derivation '{derivation}' uses {}, which is known only after apply",
                shown_key(key)
            ),
            hint: Some(INSIDE_DERIVE.to_owned()),
        };
    }
    // What Nix before 2.9 says instead; it names neither the derivation nor the output.
    if message == "map::at" {
        return Explained {
            message: "a derivation uses an output that is known only after apply".to_owned(),
            hint: Some(INSIDE_DERIVE.to_owned()),
        };
    }
    Explained {
        message: message.clone(),
        hint: hint(message),
    }
}

/// Output and derivation in `no hash for output '<key>' of derivation '<name>'`.
fn eaten_reference(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("no hash for output '")?;
    let (key, rest) = rest.split_once("' of derivation '")?;
    Some((key, rest.strip_suffix('\'')?))
}

/// `<id>.<step>.<step>` for the JSON list of id and steps that the Nix library names outputs by.
fn shown_key(key: &str) -> String {
    let Ok(parts) = serde_json::from_str::<Vec<serde_json::Value>>(key) else {
        return key.to_owned();
    };
    let shown = parts.iter().map(|part| {
        part.as_str()
            .map_or_else(|| part.to_string(), str::to_owned)
    });
    shown.collect::<Vec<_>>().join(".")
}

fn hint(message: &str) -> Option<String> {
    if message.contains("called with unexpected argument 'ledger'") {
        return Some(
            "a plan is a function `{ ledger ? null, ... }: …`; make it with `nivis.lib.plan`"
                .to_owned(),
        );
    }
    if message.contains("requires lock file changes") {
        return Some("run `nix flake lock` in the folder of the flake".to_owned());
    }
    if let Some(file) = untracked(message) {
        return Some(format!(
            "Nix sees only files that git tracks; if {file} is there, run `git add {file}`"
        ));
    }
    None
}

/// The file, below the root of a flake's source, that Nix did not find there.
fn untracked(message: &str) -> Option<&str> {
    let missing = [
        "No such file or directory",
        "does not exist",
        "is not tracked",
    ];
    if !missing.iter().any(|words| message.contains(words)) {
        return None;
    }
    let rest = &message[message.find("/nix/store/")?..];
    let (_, file) = rest.split_once("-source/")?;
    file.split('\'').next().filter(|file| !file.is_empty())
}

/// Whether the error says that a file of the store is missing, as it does when nothing is written there but the plan reads
/// the result of a build.
pub(super) fn needs_store(message: &str) -> bool {
    message.contains(".drv' is not valid")
        || message.contains("cannot build") && message.contains("read-only")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(message: &str) -> Explained {
        explain(&NixFailure {
            message: message.to_owned(),
            ..NixFailure::default()
        })
    }

    #[test]
    fn a_derivation_that_ate_a_reference_is_named_with_the_reference() {
        let e = explained(r#"no hash for output '["a.t.x","net",0,"ip"]' of derivation 'img'"#);
        assert_eq!(
            e.message,
            "derivation 'img' uses a.t.x.net.0.ip, which is known only after apply"
        );
        assert_eq!(e.hint.as_deref(), Some(INSIDE_DERIVE));
        assert_eq!(explained("map::at").hint.as_deref(), Some(INSIDE_DERIVE));
    }

    #[test]
    fn known_mistakes_get_a_hint_and_all_others_stay_as_they_are() {
        let table = [
            ("infinite recursion encountered", None),
            ("syntax error, unexpected '}'", None),
            (
                "getting status of '/srv/x': No such file or directory",
                None,
            ),
            (
                "flake 'git+file:///srv' requires lock file changes but they're not allowed due to '--no-update-lock-file'",
                Some("nix flake lock"),
            ),
            (
                "function at /s.nix:1:1 called with unexpected argument 'ledger'",
                Some("a plan is a function"),
            ),
            (
                "getting status of '/nix/store/0ccnxa25whszw7mgbgyzdm4nqc0zwnm8-source/sub/x.nix': No such file or directory",
                Some("run `git add sub/x.nix`"),
            ),
        ];
        for (message, hint) in table {
            let e = explained(message);
            assert_eq!(e.message, message);
            match hint {
                Some(words) => assert!(e.hint.unwrap().contains(words), "{message}"),
                None => assert_eq!(e.hint, None, "{message}"),
            }
        }
    }
}
