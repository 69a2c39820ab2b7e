//! `builtin_file`: a file on this machine, written or looked at.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::object::{error_at, get, text, with};
use super::resource::{Change, DataSource, Plan, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs::{self, PathError};
use crate::schema::{Attribute, Block};
use crate::value::{Type, Value};

/// Default of `mode`.
const PUBLIC: &str = "0644";
/// Default of `mode` with `sensitive_content`.
const PRIVATE: &str = "0600";

/// The resource `builtin_file`.
pub(super) struct File;

impl Resource for File {
    fn schema(&self) -> Block {
        let text = || Attribute::plain(Type::String);
        let attributes = [
            (
                "filename",
                text()
                    .required()
                    .describe("Where the file is; folders on the way are made. Another name means another file."),
            ),
            (
                "content",
                text()
                    .optional()
                    .describe("The text in the file; without it and `sensitive_content` the file is empty."),
            ),
            (
                "sensitive_content",
                text()
                    .optional()
                    .sensitive()
                    .describe("The text in the file where it must not be shown; instead of `content`."),
            ),
            (
                "mode",
                text()
                    .optional()
                    .computed()
                    .describe("Permissions in octal: \"0644\", or \"0600\" with `sensitive_content`."),
            ),
            ("id", text().computed().describe("Equal to `filename`.")),
            (
                "sha256",
                text().computed().describe("SHA-256 of the content in hexadecimal."),
            ),
        ];
        Block {
            attributes: attributes.map(|(k, a)| (k.into(), a)).into(),
            description: "A text file.".to_owned(),
            ..Block::default()
        }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut problems = Diagnostics::default();
        let filename = get(config, "filename");
        if filename.is_null() || filename.as_str() == Some("") {
            let detail = "filename must name a file.";
            problems.push(error_at("filename", "Missing file name", detail));
        }
        let set = |name| text(config, name).is_some();
        if set("content") && set("sensitive_content") {
            let detail = "Only one of content and sensitive_content can be set.";
            problems.push(error_at("sensitive_content", "Two contents", detail));
        }
        if let Some(mode) = text(config, "mode").filter(|m| parse_mode(m).is_none()) {
            let detail =
                format!("mode is {mode:?}; it must be three or four octal digits, like \"0644\".");
            problems.push(error_at("mode", "Invalid permissions", detail));
        }
        problems
    }

    fn plan(&self, change: &Change<'_>) -> Plan {
        let mode = match get(change.config, "mode") {
            Value::Null(_) => default_mode(change.config),
            mode => mode,
        };
        let computed = [
            ("id", get(change.config, "filename")),
            ("mode", mode),
            ("sha256", planned_digest(change.config)),
        ];
        let object = with(change.proposed, computed);
        Plan {
            requires_replace: change.changed(&object, &[("filename", None)]),
            object,
        }
    }

    fn apply(&self, _prior: Option<&Value>, planned: &Value) -> Result<Value, Diagnostics> {
        // What was unknown when it was planned is known now.
        let mode = match get(planned, "mode") {
            Value::String(mode) => mode.to_string(),
            _ => text(&with(planned, [("mode", default_mode(planned))]), "mode")
                .unwrap_or(PUBLIC)
                .to_owned(),
        };
        let object = with(planned, [("mode", Value::string(&mode))]);
        self.validate(&object).into_result()?;
        let filename = text(&object, "filename").unwrap_or_default();
        let path = Path::new(filename);
        let content = content(&object).unwrap_or_default();
        let folder = path.parent().filter(|p| *p != Path::new(""));
        folder
            .map_or(Ok(()), fs::create_dir)
            .and_then(|()| {
                fs::atomic_write(path, content.as_bytes(), parse_mode(&mode).unwrap_or(0o600))
            })
            .map_err(|e| about_file("Cannot write the file", &e))?;
        let computed = [
            ("id", Value::string(filename)),
            ("sha256", digest(content.as_bytes())),
        ];
        Ok(with(&object, computed))
    }

    fn delete(&self, object: &Value) -> Result<(), Diagnostics> {
        fs::remove(Path::new(text(object, "filename").unwrap_or_default()))
            .map_err(|e| about_file("Cannot remove the file", &e).into())
    }

    fn read(&self, object: &Value) -> Result<Option<Value>, Diagnostics> {
        let path = Path::new(text(object, "filename").unwrap_or_default());
        let unreadable = |e: PathError| about_file("Cannot read the file", &e);
        let Some(bytes) = fs::read_optional(path).map_err(unreadable)? else {
            return Ok(None);
        };
        let on_disk = fs::mode(path).map_err(unreadable)?;
        let known = text(object, "mode");
        let mode = match known.and_then(parse_mode) {
            Some(mode) if mode == on_disk => get(object, "mode"),
            _ => Value::string(format!("{on_disk:04o}")),
        };
        let object = with(object, [("mode", mode), ("sha256", digest(&bytes))]);
        let content = Value::string(String::from_utf8_lossy(&bytes));
        Ok(Some(if text(&object, "sensitive_content").is_some() {
            with(&object, [("sensitive_content", content)])
        } else if bytes.is_empty() && get(&object, "content").is_null() {
            object
        } else {
            with(&object, [("content", content)])
        }))
    }

    fn import(&self, id: &str) -> Result<Value, Diagnostics> {
        let null = || Value::null(Type::String);
        let object = Value::object([
            ("filename", Value::string(id)),
            ("content", null()),
            ("sensitive_content", null()),
            ("mode", null()),
            ("id", Value::string(id)),
            ("sha256", null()),
        ]);
        self.read(&object)?.ok_or_else(|| {
            Diagnostic::error("No such file")
                .detail(format!("There is no file {id} to import."))
                .into()
        })
    }
}

/// The data source `builtin_file`.
pub(super) struct ExistingFile;

impl DataSource for ExistingFile {
    fn schema(&self) -> Block {
        let text = || Attribute::plain(Type::String);
        let attributes = [
            ("filename", text().required().describe("Where the file is.")),
            ("content", text().computed().describe("The text in it.")),
            (
                "sha256",
                text()
                    .computed()
                    .describe("SHA-256 of the content in hexadecimal."),
            ),
        ];
        Block {
            attributes: attributes.map(|(k, a)| (k.into(), a)).into(),
            description: "A text file that is there already.".to_owned(),
            ..Block::default()
        }
    }

    fn read(&self, config: &Value) -> Result<Value, Diagnostics> {
        let path = Path::new(text(config, "filename").unwrap_or_default());
        let bytes = fs::read(path).map_err(|e| about_file("Cannot read the file", &e))?;
        let sha256 = digest(&bytes);
        let content = String::from_utf8(bytes).map_err(|_| {
            let detail = format!("{} is not UTF-8 text.", path.display());
            error_at("filename", "Not a text file", detail)
        })?;
        Ok(with(
            config,
            [("content", Value::string(content)), ("sha256", sha256)],
        ))
    }
}

fn about_file(summary: &str, error: &PathError) -> Diagnostic {
    error_at("filename", summary, error.to_string())
}

/// The permissions that three or four octal digits stand for.
fn parse_mode(text: &str) -> Option<u32> {
    let octal = text.bytes().all(|b| (b'0'..=b'7').contains(&b));
    let length = (3..=4).contains(&text.len());
    (octal && length).then(|| u32::from_str_radix(text, 8).ok())?
}

/// The permissions where the configuration does not say; unknown while it is open whether the content is a secret.
fn default_mode(config: &Value) -> Value {
    match get(config, "sensitive_content") {
        Value::Unknown(_) => Value::unknown(Type::String),
        Value::Null(_) => Value::string(PUBLIC),
        _ => Value::string(PRIVATE),
    }
}

/// What the file contains according to a wholly known object.
fn content(object: &Value) -> Option<&str> {
    text(object, "sensitive_content").or_else(|| text(object, "content"))
}

/// The digest, unless it depends on what is not known yet.
fn planned_digest(config: &Value) -> Value {
    let known = |name| get(config, name).is_known();
    if known("content") && known("sensitive_content") {
        digest(content(config).unwrap_or_default().as_bytes())
    } else {
        Value::unknown(Type::String)
    }
}

fn digest(bytes: &[u8]) -> Value {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Value::string(hex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::PrivateDir;

    struct Folder(PrivateDir);

    impl Folder {
        fn new() -> Self {
            Self(PrivateDir::new(&[std::env::temp_dir()]).unwrap())
        }

        fn file(&self, name: &str) -> String {
            self.0.path().join(name).display().to_string()
        }
    }

    fn config(filename: &str, set: &[(&str, &str)]) -> Value {
        let mut object = Value::object(
            File.schema()
                .attributes
                .into_keys()
                .map(|name| (name, Value::null(Type::String))),
        );
        for (name, value) in [("filename", filename)].iter().chain(set) {
            object = with(&object, [(*name, Value::string(value))]);
        }
        object
    }

    fn plan(prior: Option<&Value>, config: &Value) -> Plan {
        let keep = |name| prior.map_or(Value::null(Type::String), |p| get(p, name));
        let mut proposed = with(config, [("id", keep("id")), ("sha256", keep("sha256"))]);
        if get(config, "mode").is_null() {
            proposed = with(&proposed, [("mode", keep("mode"))]);
        }
        File.plan(&Change {
            prior,
            config,
            proposed: &proposed,
        })
    }

    fn create(config: &Value) -> Value {
        let planned = plan(None, config).object;
        assert!(planned.is_wholly_known());
        let object = File.apply(None, &planned).unwrap();
        assert_eq!(object, planned, "known before it is made");
        object
    }

    #[test]
    fn a_second_plan_is_empty() {
        let folder = Folder::new();
        for (name, set, mode) in [
            ("a/b/public", &[("content", "x")][..], 0o644),
            ("secret", &[("sensitive_content", "x")], 0o600),
            ("executable", &[("content", "#!"), ("mode", "755")], 0o755),
            ("empty", &[], 0o644),
        ] {
            let config = config(&folder.file(name), set);
            let object = create(&config);
            assert_eq!(
                fs::mode(Path::new(&folder.file(name))).unwrap(),
                mode,
                "{name}"
            );
            let read = File.read(&object).unwrap().unwrap();
            assert_eq!(read, object, "{name}");
            let again = plan(Some(&read), &config);
            assert_eq!(
                (again.object, again.requires_replace),
                (object, vec![]),
                "{name}"
            );
        }
    }

    #[test]
    fn what_happened_to_the_file_is_noticed_and_undone() {
        let folder = Folder::new();
        let path = folder.file("f");
        let config = config(&path, &[("content", "mine")]);
        let object = create(&config);
        fs::atomic_write(Path::new(&path), b"theirs", 0o640).unwrap();
        let drifted = File.read(&object).unwrap().unwrap();
        assert_eq!(text(&drifted, "content"), Some("theirs"));
        assert_eq!(text(&drifted, "mode"), Some("0640"));
        let planned = plan(Some(&drifted), &config);
        assert_eq!(
            (&planned.object, planned.requires_replace.len()),
            (&object, 0)
        );
        File.apply(Some(&drifted), &planned.object).unwrap();
        assert_eq!(File.read(&object).unwrap(), Some(object.clone()));
        fs::remove(Path::new(&path)).unwrap();
        assert_eq!(File.read(&object).unwrap(), None);
        File.delete(&object).unwrap();
    }

    #[test]
    fn another_name_is_another_file() {
        let folder = Folder::new();
        let object = create(&config(&folder.file("one"), &[]));
        let planned = plan(Some(&object), &config(&folder.file("two"), &[]));
        let paths: Vec<_> = planned
            .requires_replace
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(paths, ["filename"]);
    }

    #[test]
    fn what_depends_on_unknown_content_is_unknown() {
        let unknown = Value::unknown(Type::String);
        for (name, mode_known) in [("content", true), ("sensitive_content", false)] {
            let config = with(&config("/f", &[]), [(name, unknown.clone())]);
            let planned = plan(None, &config).object;
            assert_eq!(get(&planned, "sha256"), unknown);
            assert_eq!(get(&planned, "mode").is_known(), mode_known, "{name}");
            assert_eq!(get(&planned, "id"), Value::string("/f"));
        }
    }

    #[test]
    fn a_mode_left_open_is_decided_when_it_is_made() {
        let folder = Folder::new();
        let planned = with(
            &config(&folder.file("f"), &[("sensitive_content", "x")]),
            [("mode", Value::unknown(Type::String))],
        );
        assert_eq!(
            text(&File.apply(None, &planned).unwrap(), "mode"),
            Some("0600")
        );
    }

    #[test]
    fn errors_name_the_argument() {
        let cases = [
            (config("", &[]), "filename"),
            (config("/f", &[("mode", "9")]), "mode"),
            (config("/f", &[("mode", "rw")]), "mode"),
            (
                config("/f", &[("content", "a"), ("sensitive_content", "b")]),
                "sensitive_content",
            ),
        ];
        for (config, expected) in cases {
            let problems = File.validate(&config);
            let paths: Vec<_> = problems
                .0
                .iter()
                .map(|d| d.path.clone().unwrap().to_string())
                .collect();
            assert_eq!(paths, [expected], "{problems}");
        }
        let folder = Folder::new();
        let taken = config(&folder.file("."), &[]);
        let problems = File.apply(None, &plan(None, &taken).object).unwrap_err();
        assert_eq!(
            problems.0[0].path,
            Some(crate::value::Path::root().attribute("filename"))
        );
    }

    #[test]
    fn an_imported_file_fits_its_configuration() {
        let folder = Folder::new();
        let path = folder.file("f");
        fs::atomic_write(Path::new(&path), b"there", 0o644).unwrap();
        let object = File.import(&path).unwrap();
        let planned = plan(Some(&object), &config(&path, &[("content", "there")]));
        assert_eq!(planned.object, object);
        assert!(File.import(&folder.file("none")).is_err());
    }

    #[test]
    fn the_data_source_finds_text_only() {
        let folder = Folder::new();
        let config = |name: &str| {
            Value::object([
                ("filename", Value::string(folder.file(name))),
                ("content", Value::null(Type::String)),
                ("sha256", Value::null(Type::String)),
            ])
        };
        fs::atomic_write(Path::new(&folder.file("text")), b"hello", 0o644).unwrap();
        fs::atomic_write(Path::new(&folder.file("binary")), b"\xff", 0o644).unwrap();
        let found = ExistingFile.read(&config("text")).unwrap();
        assert_eq!(text(&found, "content"), Some("hello"));
        let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(text(&found, "sha256"), Some(hello));
        for missing in ["binary", "none"] {
            let problem = &ExistingFile.read(&config(missing)).unwrap_err().0[0];
            assert_eq!(
                problem.path,
                Some(crate::value::Path::root().attribute("filename"))
            );
        }
    }
}
