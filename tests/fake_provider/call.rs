//! What happens to every call first: log it, check the host, start the fault that is due.

use std::sync::atomic::Ordering;

use nivis::builtin::message::decode;
use nivis::builtin::object::get;
use nivis::provider::proto::tfplugin6 as v6;
use nivis::schema::implied_type;
use nivis::value::{Entries, Value};
use serde_json::{Value as Json, json};
use tonic::Status;

use crate::fake::Fake;
use crate::faults::{self, Call, What};
use crate::resources::meta_block;
use crate::world;

/// How a call is to be answered.
pub(crate) struct Orders {
    pub(crate) what: What,
    pub(crate) legacy: bool,
    /// Problems found already; with an error among them nothing is to be done.
    pub(crate) diagnostics: Vec<v6::Diagnostic>,
}

impl Orders {
    pub(crate) fn refused(&self) -> bool {
        let error = i32::from(v6::diagnostic::Severity::Error);
        self.diagnostics.iter().any(|d| d.severity == error)
    }
}

/// A call on its way in.
pub(crate) struct Incoming<'a> {
    pub(crate) rpc: &'a str,
    /// Name for faults.
    pub(crate) name: &'a str,
    /// What kind of apply it is.
    pub(crate) op: Option<&'a str>,
    pub(crate) ty: &'a str,
    /// Objects of the request by name, the most telling first.
    pub(crate) objects: &'a [(&'a str, &'a Value)],
    pub(crate) private: Option<&'a [u8]>,
    pub(crate) id: Option<&'a str>,
    /// The provider's metadata, of a call that takes it.
    pub(crate) meta: Meta<'a>,
}

/// What a call has to say to the provider beside its matter.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Meta<'a> {
    /// It is no such call.
    NotTaken,
    Missing,
    Sent(&'a v6::DynamicValue),
}

impl<'a> Incoming<'a> {
    /// A call without a type or objects; `name` is its name in faults.
    pub(crate) fn plain(rpc: &'a str, name: &'a str) -> Self {
        Self {
            rpc,
            name,
            op: None,
            ty: "",
            objects: &[],
            private: None,
            id: None,
            meta: Meta::NotTaken,
        }
    }

    pub(crate) fn of(self, ty: &'a str) -> Self {
        Self { ty, ..self }
    }

    pub(crate) fn with(self, objects: &'a [(&'a str, &'a Value)]) -> Self {
        Self { objects, ..self }
    }

    pub(crate) fn private(self, private: &'a [u8]) -> Self {
        Self {
            private: Some(private),
            ..self
        }
    }

    pub(crate) fn meta(self, sent: Option<&'a v6::DynamicValue>) -> Self {
        Self {
            meta: sent.map_or(Meta::Missing, Meta::Sent),
            ..self
        }
    }

    fn is(&self, name: &str) -> bool {
        self.name == name || self.op == Some(name)
    }
}

impl Fake {
    /// Logs a call and does what the faults say about its start.
    pub(crate) async fn begin(&self, call: Incoming<'_>) -> Result<Orders, Status> {
        let objects = call
            .objects
            .iter()
            .map(|(name, value)| (*name, shown(value)));
        let objects: Vec<_> = objects.collect();
        self.log(&call, &objects)?;
        let telling = objects.iter().find(|(_, object)| !object.is_null());
        let object = telling.map_or(Json::Null, |(_, object)| object.clone());
        let (what, legacy) = faults::choose(
            self.options.faults.as_deref(),
            &Call {
                names: &[call.name, call.op.unwrap_or(call.name)],
                ty: call.ty,
                object: &object,
            },
        )
        .map_err(Status::internal)?;
        let mut diagnostics = self.host_mistakes(&call);
        match &what {
            What::Die => crate::die(),
            What::Unavailable => return Err(Status::unavailable("told to be unavailable")),
            What::Hang => std::future::pending().await,
            What::WaitStop => {
                let _ = self.stop.subscribe().wait_for(|stopped| *stopped).await;
                diagnostics.push(problem(
                    true,
                    "Stopped",
                    "The call was told to wait for this.",
                ));
            }
            What::Slow(delay) => tokio::time::sleep(*delay).await,
            What::Flood => crate::flood(),
            What::Error => diagnostics.push(problem(true, "Told to fail", "Nothing was done.")),
            What::Warning => diagnostics.push(problem(false, "Told to warn", "All went well.")),
            _ => {}
        }
        Ok(Orders {
            what,
            legacy,
            diagnostics,
        })
    }

    fn log(&self, call: &Incoming<'_>, objects: &[(&str, Json)]) -> Result<(), Status> {
        let Some(calls) = &self.options.calls else {
            return Ok(());
        };
        let mut line = json!({"rpc": call.rpc, "pid": std::process::id()});
        if !call.ty.is_empty() {
            line["type"] = call.ty.into();
        }
        for (name, object) in objects {
            line[name] = object.clone();
        }
        if let Some(private) = call.private {
            line["private"] = String::from_utf8_lossy(private).into();
        }
        if let Some(id) = call.id {
            line["id"] = id.into();
        }
        if let Meta::Sent(meta) = call.meta {
            let meta = decode(Some(meta), &implied_type(&meta_block()))?;
            line["meta"] = shown(&meta);
        }
        world::append(calls, &line).map_err(Status::internal)
    }

    /// What a host must not do.
    fn host_mistakes(&self, call: &Incoming<'_>) -> Vec<v6::Diagnostic> {
        let object = |name| {
            let found = call.objects.iter().find(|(n, _)| *n == name);
            found.map(|(_, object)| *object).filter(|o| !o.is_null())
        };
        let configured = self.configured();
        let applies = call.is("apply");
        let needs_configuration = [
            "upgrade",
            "read",
            "plan",
            "apply",
            "import",
            "move",
            "read_data",
        ];
        let needs_private = call.private == Some(&[]) && (applies || object("prior").is_some());
        let rules = [
            (
                self.options.filler == 0 && !self.schema_fetched.load(Ordering::Relaxed),
                "a call before the schema was fetched",
            ),
            (
                configured.is_none() && needs_configuration.contains(&call.name),
                "a call that needs a configured provider",
            ),
            (
                configured.is_some() && call.is("configure"),
                "the provider is configured already",
            ),
            (
                object("config").is_some_and(has_marker),
                "the configuration holds a marker that should have been resolved",
            ),
            (
                applies && object("config").is_some_and(|c| !c.is_wholly_known()),
                "a configuration is applied that is not wholly known",
            ),
            (
                applies && configured.is_some_and(|c| !get(&c, "endpoint").is_known()),
                "applied by a process whose endpoint was not known when it was configured",
            ),
            (needs_private, "private bytes got lost"),
            (
                call.meta == Meta::Missing,
                "the provider's metadata is missing",
            ),
        ];
        let broken = rules.into_iter().filter(|(broken, _)| *broken);
        broken
            .map(|(_, what)| problem(true, &format!("host mistake: {what}"), call.rpc))
            .collect()
    }
}

pub(crate) fn problem(error: bool, summary: &str, detail: &str) -> v6::Diagnostic {
    use v6::attribute_path::{Step, step::Selector};
    use v6::diagnostic::Severity;
    let step = Step {
        selector: Some(Selector::AttributeName("name".to_owned())),
    };
    v6::Diagnostic {
        severity: if error {
            Severity::Error
        } else {
            Severity::Warning
        }
        .into(),
        summary: summary.to_owned(),
        detail: detail.to_owned(),
        attribute: Some(v6::AttributePath { steps: vec![step] }),
    }
}

/// Plain JSON in which unknown values are marked.
fn shown(value: &Value) -> Json {
    let entries = |entries: &Entries| {
        let shown = entries.iter().map(|(k, v)| (k.to_string(), shown(v)));
        Json::Object(shown.collect())
    };
    match value {
        Value::Unknown(_) => json!({"__unknown": true}),
        Value::List(s) | Value::Set(s) => s.items.iter().map(shown).collect(),
        Value::Tuple(items) => items.iter().map(shown).collect(),
        Value::Map(m) => entries(&m.entries),
        Value::Object(o) => entries(o),
        simple => simple.to_untyped_json().unwrap_or(Json::Null),
    }
}

/// Whether something of the host's own language is left in a value.
fn has_marker(value: &Value) -> bool {
    const MARKERS: [&str; 4] = ["__ref", "__derived", "__build", "__sensitiveRef"];
    let marked = |entries: &Entries| {
        entries
            .iter()
            .any(|(k, v)| MARKERS.contains(&&**k) || has_marker(v))
    };
    match value {
        Value::List(s) | Value::Set(s) => s.items.iter().any(has_marker),
        Value::Tuple(items) => items.iter().any(has_marker),
        Value::Map(m) => marked(&m.entries),
        Value::Object(o) => marked(o),
        _ => false,
    }
}
