//! Faults: what to do wrong, and in which call.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value as Json;

/// One entry of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    on: String,
    #[serde(rename = "type")]
    ty: Option<String>,
    #[serde(default, rename = "match")]
    attributes: BTreeMap<String, Json>,
    #[serde(rename = "do")]
    what: What,
    #[serde(default)]
    legacy: bool,
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum What {
    /// As usual.
    #[default]
    Nothing,
    Die,
    DieAfter,
    Error,
    ErrorWithObject,
    Warning,
    Unavailable,
    Hang,
    WaitStop,
    Slow(Duration),
    Inconsistent,
    ForbiddenPlan,
    UnknownAfterApply,
    WrongType,
    Null,
    Absent,
    ChangePrivate,
    Replace,
    ReplaceNowhere,
    ReplaceUnseen,
    Refine,
    Keep,
    Defer,
    Several,
    OtherType,
    Flood,
}

impl TryFrom<String> for What {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match text.as_str() {
            "die" => Self::Die,
            "die_after" => Self::DieAfter,
            "error" => Self::Error,
            "error_with_object" => Self::ErrorWithObject,
            "warning" => Self::Warning,
            "unavailable" => Self::Unavailable,
            "hang" => Self::Hang,
            "wait_stop" => Self::WaitStop,
            "inconsistent" => Self::Inconsistent,
            "forbidden_plan" => Self::ForbiddenPlan,
            "unknown_after_apply" => Self::UnknownAfterApply,
            "wrong_type" => Self::WrongType,
            "null" => Self::Null,
            "absent" => Self::Absent,
            "change_private" => Self::ChangePrivate,
            "replace" => Self::Replace,
            "replace_nowhere" => Self::ReplaceNowhere,
            "replace_unseen" => Self::ReplaceUnseen,
            "refine" => Self::Refine,
            "keep" => Self::Keep,
            "defer" => Self::Defer,
            "several" => Self::Several,
            "other_type" => Self::OtherType,
            "flood" => Self::Flood,
            other => {
                let milliseconds = other.strip_prefix("slow:").and_then(|ms| ms.parse().ok());
                let delay = milliseconds.map(Duration::from_millis);
                Self::Slow(delay.ok_or_else(|| format!("unknown fault {other:?}"))?)
            }
        })
    }
}

/// A call, as far as faults look at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// Names it goes by: `create` is an `apply` as well.
    pub(crate) names: &'a [&'a str],
    /// Resource or data source type.
    pub(crate) ty: &'a str,
    /// The object to look at.
    pub(crate) object: &'a Json,
}

impl Fault {
    fn fits(&self, call: &Call<'_>) -> bool {
        call.names.contains(&self.on.as_str())
            && self.ty.as_deref().is_none_or(|ty| ty == call.ty)
            && self
                .attributes
                .iter()
                .all(|(k, v)| call.object.get(k) == Some(v))
    }
}

/// What to do in a call, and whether to answer as an old SDK. An error if the file is not a list of faults.
pub(crate) fn choose(file: Option<&Path>, call: &Call<'_>) -> Result<(What, bool), String> {
    let Some(text) = file.and_then(|f| std::fs::read(f).ok()) else {
        return Ok((What::Nothing, false));
    };
    let faults: Vec<Fault> =
        serde_json::from_slice(&text).map_err(|e| format!("bad faults: {e}"))?;
    let fitting = faults.into_iter().find(|f| f.fits(call));
    Ok(fitting.map(|f| (f.what, f.legacy)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_fitting_fault_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults.json");
        let faults = json!([
            {"on": "apply", "type": "fake_other", "do": "die"},
            {"on": "create", "match": {"name": "a"}, "do": "slow:20"},
            {"on": "apply", "do": "error", "legacy": true},
        ]);
        nivis::fs::atomic_write(&path, faults.to_string().as_bytes(), 0o600).unwrap();
        let object = |name: &str| json!({"name": name});
        let choose = |names: &[&str], name: &str| {
            let call = Call {
                names,
                ty: "fake_thing",
                object: &object(name),
            };
            choose(Some(&path), &call).unwrap()
        };
        let slow = What::Slow(Duration::from_millis(20));
        assert_eq!(choose(&["apply", "create"], "a"), (slow, false));
        assert_eq!(choose(&["apply", "create"], "b"), (What::Error, true));
        assert_eq!(choose(&["plan"], "a"), (What::Nothing, false));
    }

    #[test]
    fn mistakes_in_the_file_are_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults.json");
        let call = Call {
            names: &["plan"],
            ty: "",
            object: &Json::Null,
        };
        for text in [
            "{",
            r#"[{"on":"plan","do":"dance"}]"#,
            r#"[{"on":"plan","do":"die","if":1}]"#,
        ] {
            nivis::fs::atomic_write(&path, text.as_bytes(), 0o600).unwrap();
            assert!(choose(Some(&path), &call).is_err(), "{text}");
        }
        assert_eq!(choose(None, &call).unwrap().0, What::Nothing);
    }
}
