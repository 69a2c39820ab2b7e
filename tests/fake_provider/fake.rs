//! The fake provider itself: what it knows, and what it does to its answers.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nivis::builtin::message::encode;
use nivis::builtin::object::{get, with};
use nivis::provider::proto::tfplugin6 as v6;
use nivis::schema::implied_type;
use nivis::value::{Refinement, Type, Unknown, Value, json};
use serde_json::Value as Json;
use tokio::sync::watch;
use tonic::Status;

use crate::call::{Orders, problem};
use crate::faults::What;
use crate::resources::{self, THING};
use crate::world::{Found, World};

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// 5 or 6.
    pub(crate) protocol: u32,
    /// Whether destroys want to be planned.
    pub(crate) plan_destroy: bool,
    /// Version of the identity schema.
    pub(crate) identity_version: i64,
    /// Mebibytes of schemas that nobody uses.
    pub(crate) filler: usize,
    /// The record, unless the provider's configuration names one.
    pub(crate) record: Option<PathBuf>,
    /// The call log.
    pub(crate) calls: Option<PathBuf>,
    /// The faults.
    pub(crate) faults: Option<PathBuf>,
}

/// The provider.
pub(crate) struct Fake {
    pub(crate) options: Options,
    pub(crate) thing: Type,
    pub(crate) data: Type,
    pub(crate) own: Type,
    pub(crate) config: Mutex<Option<Value>>,
    pub(crate) schema_fetched: AtomicBool,
    pub(crate) made_here: AtomicUsize,
    pub(crate) opened: AtomicUsize,
    pub(crate) stop: watch::Sender<bool>,
}

impl Fake {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            thing: implied_type(&resources::thing_block(options.protocol)),
            data: implied_type(&resources::data_block()),
            own: implied_type(&resources::provider_block()),
            options,
            config: Mutex::new(None),
            schema_fetched: AtomicBool::new(false),
            made_here: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            stop: watch::Sender::new(false),
        }
    }

    pub(crate) fn configured(&self) -> Option<Value> {
        self.config.lock().ok()?.clone()
    }

    /// A provider argument; null if there is none.
    pub(crate) fn argument(&self, name: &str) -> Value {
        let config = self.configured();
        let found = config.and_then(|c| c.attribute(name).cloned());
        found.unwrap_or_else(|| Value::null(Type::String))
    }

    pub(crate) fn world(&self) -> Option<World> {
        let configured = self.argument("record");
        let configured = configured.as_str().map(PathBuf::from);
        configured
            .or_else(|| self.options.record.clone())
            .map(World)
    }

    pub(crate) fn id_for(&self, name: &str) -> String {
        let made_here = self.made_here.fetch_add(1, Ordering::Relaxed);
        let before = self.world().map_or(made_here, |w| w.created(THING, name));
        format!("{name}-{}", before + 1)
    }

    pub(crate) fn record(&self, op: &str, object: &Value) -> Result<(), Status> {
        let Some(world) = self.world() else {
            return Ok(());
        };
        let text =
            json::to_json(object, &self.thing).map_err(|e| Status::internal(e.to_string()))?;
        let plain: Json =
            serde_json::from_str(&text).map_err(|e| Status::internal(e.to_string()))?;
        let id = get(object, "id");
        world
            .note(op, THING, id.as_str().unwrap_or_default(), &plain)
            .map_err(Status::internal)
    }

    /// The thing as the world has it: attributes the record knows replace those of `known`.
    pub(crate) fn look(&self, known: &Value) -> Value {
        let Some(world) = self.world() else {
            return known.clone();
        };
        let id = get(known, "id");
        match world.find(THING, id.as_str().unwrap_or_default()) {
            Found::Gone => Value::null(self.thing.clone()),
            Found::Object(object) => self.read_known(&object, known),
        }
    }

    /// `base` with those attributes that JSON has and that can be read.
    pub(crate) fn read_known(&self, json: &Json, base: &Value) -> Value {
        let Type::Object(ty) = &self.thing else {
            return base.clone();
        };
        let present = ty.attributes.iter().filter_map(|(name, ty)| {
            let value = json::from_json(json.get(&**name)?.to_string().as_bytes(), ty).ok()?;
            Some((name, value))
        });
        present.fold(base.clone(), |object, (name, value)| {
            with(&object, [(name, value)])
        })
    }

    /// A thing of which nothing is known.
    pub(crate) fn blank(&self) -> Result<Value, Status> {
        json::from_json(br#"{"rule":[],"member":[]}"#, &self.thing)
            .map_err(|e| Status::internal(e.to_string()))
    }

    /// Spoils a result as ordered and packs it.
    pub(crate) fn pack(
        orders: &mut Orders,
        object: &Value,
        ty: &Type,
    ) -> Result<Option<v6::DynamicValue>, Status> {
        let set = |name, value| with(object, [(name, value)]);
        let spoilt = match orders.what {
            What::DieAfter => crate::die(),
            What::Absent => return Ok(None),
            What::WrongType => {
                let only = Value::object([("name", Value::string("wrong"))]);
                return encode(&only, &only.ty()).map(Some);
            }
            What::ErrorWithObject => {
                let detail = "The work was done all the same.";
                orders
                    .diagnostics
                    .push(problem(true, "Told to fail late", detail));
                object.clone()
            }
            What::Inconsistent => set("value", Value::string("inconsistent")),
            What::ForbiddenPlan => set("name", Value::string("forbidden")),
            What::UnknownAfterApply => set("echo", Value::unknown(Type::String)),
            What::Refine => set("id", promised()),
            What::Null => Value::null(ty.clone()),
            _ => object.clone(),
        };
        encode(&spoilt, ty).map(Some)
    }

    pub(crate) fn identity(object: &Value) -> Result<Option<v6::ResourceIdentityData>, Status> {
        let id = get(object, "id");
        if id.as_str().is_none() {
            return Ok(None);
        }
        let identity = Value::object([("id", id)]);
        Ok(Some(v6::ResourceIdentityData {
            identity_data: Some(encode(&identity, &identity.ty())?),
        }))
    }
}

/// An unknown text of which the beginning is promised, and the promise is never kept.
fn promised() -> Value {
    let refinement = Refinement {
        prefix: Some("never-".into()),
        ..Refinement::default()
    };
    let ty = Type::String;
    Unknown { ty, refinement }.into_value()
}

/// The type of a thing's identity.
pub(crate) fn identity_type() -> Type {
    Type::object([("id", Type::String)])
}
