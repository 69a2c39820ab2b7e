//! The ephemeral resource `fake_login` and the functions of the fake provider.
//!
//! `fake_login`: `user` required; `renew_ms` optional number, after which it wants to be renewed, each time anew; `token`
//! computed, `token-<user>-<n>`, counting the openings.
//!
//! Functions: `join(separator, part…)`; `fail(message)`, which blames its argument; `describe(anything)`, which takes null
//! and unknown values and gives an object: `type`, and `known`.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use nivis::builtin::message::{decode, encode};
use nivis::builtin::object::{get, with};
use nivis::provider::proto::tfplugin6 as v6;
use nivis::schema::{Attribute, Block, implied_type};
use nivis::value::{Type, Value};
use tonic::Status;

use crate::call::Incoming;
use crate::fake::Fake;

pub(crate) const LOGIN: &str = "fake_login";

pub(crate) fn login_block() -> Block {
    let text = || Attribute::plain(Type::String);
    let attributes = [
        ("user", text().required()),
        ("renew_ms", Attribute::plain(Type::Number).optional()),
        ("token", text().computed()),
    ];
    Block {
        attributes: attributes.map(|(name, a)| (name.into(), a)).into(),
        ..Block::default()
    }
}

pub(crate) fn functions() -> impl Iterator<Item = (String, v6::Function)> {
    let parameter = |name: &str, ty: &Type, open: bool| v6::function::Parameter {
        name: name.to_owned(),
        r#type: ty.to_json().into_bytes(),
        allow_null_value: open,
        allow_unknown_values: open,
        ..Default::default()
    };
    let function = |parameters, variadic, returns: &Type| v6::Function {
        parameters,
        variadic_parameter: variadic,
        r#return: Some(v6::function::Return {
            r#type: returns.to_json().into_bytes(),
        }),
        ..Default::default()
    };
    let text = |name| parameter(name, &Type::String, false);
    let join = function(vec![text("separator")], Some(text("part")), &Type::String);
    let fail = function(vec![text("message")], None, &Type::String);
    let described = Type::object([("type", Type::String), ("known", Type::Bool)]);
    let anything = parameter("anything", &Type::Dynamic, true);
    let describe = function(vec![anything], None, &described);
    [("join", join), ("fail", fail), ("describe", describe)]
        .map(|(name, function)| (name.to_owned(), function))
        .into_iter()
}

impl Fake {
    pub(crate) async fn open_login(
        &self,
        request: v6::open_ephemeral_resource::Request,
    ) -> Result<v6::open_ephemeral_resource::Response, Status> {
        let ty = implied_type(&login_block());
        let config = decode(request.config.as_ref(), &ty)?;
        let objects = [("config", &config)];
        let call = Incoming::plain("OpenEphemeralResource", "open");
        let mut orders = self
            .begin(call.of(&request.type_name).with(&objects))
            .await?;
        let n = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let user = get(&config, "user");
        let user = user.as_str().unwrap_or_default();
        let token = Value::string(format!("token-{user}-{n}"));
        let result = with(&config, [("token", token)]);
        Ok(v6::open_ephemeral_resource::Response {
            renew_at: renewal(&config),
            result: Self::pack(&mut orders, &result, &ty)?,
            private: Some(encode(&get(&config, "renew_ms"), &Type::Number)?.msgpack),
            diagnostics: orders.diagnostics,
            deferred: None,
        })
    }

    pub(crate) async fn renew_login(
        &self,
        request: v6::renew_ephemeral_resource::Request,
    ) -> Result<v6::renew_ephemeral_resource::Response, Status> {
        let private = request.private.unwrap_or_default();
        let kept = v6::DynamicValue {
            msgpack: private.clone(),
            json: Vec::new(),
        };
        let config = Value::object([("renew_ms", decode(Some(&kept), &Type::Number)?)]);
        let call = Incoming::plain("RenewEphemeralResource", "renew");
        let orders = self
            .begin(call.of(&request.type_name).private(&private))
            .await?;
        Ok(v6::renew_ephemeral_resource::Response {
            renew_at: renewal(&config),
            private: Some(private),
            diagnostics: orders.diagnostics,
        })
    }

    pub(crate) async fn close_login(
        &self,
        request: v6::close_ephemeral_resource::Request,
    ) -> Result<v6::close_ephemeral_resource::Response, Status> {
        let private = request.private.unwrap_or_default();
        let call = Incoming::plain("CloseEphemeralResource", "close");
        let orders = self
            .begin(call.of(&request.type_name).private(&private))
            .await?;
        Ok(v6::close_ephemeral_resource::Response {
            diagnostics: orders.diagnostics,
        })
    }

    pub(crate) async fn call(
        &self,
        request: v6::call_function::Request,
    ) -> Result<v6::call_function::Response, Status> {
        let call = Incoming::plain("CallFunction", "call").of(&request.name);
        let mut orders = self.begin(call).await?;
        let functions: std::collections::BTreeMap<_, _> = functions().collect();
        let function = (functions.get(&request.name))
            .ok_or_else(|| Status::invalid_argument("no such function"))?;
        let parameters = function.parameters.iter();
        let parameters = parameters.chain(function.variadic_parameter.iter().cycle());
        let arguments: Result<Vec<Value>, Status> = (request.arguments.iter().zip(parameters))
            .map(|(argument, parameter)| {
                if argument.msgpack.is_empty() {
                    return Err(Status::invalid_argument("an argument without a value"));
                }
                let ty = Type::from_json(&parameter.r#type);
                decode(
                    Some(argument),
                    &ty.map_err(|e| Status::internal(e.to_string()))?,
                )
            })
            .collect();
        let arguments = arguments?;
        let text = |i: usize| arguments.get(i).and_then(Value::as_str).unwrap_or_default();
        let result = match &*request.name {
            "join" => {
                let parts: Vec<_> = arguments.iter().skip(1).filter_map(Value::as_str).collect();
                Value::string(parts.join(text(0)))
            }
            "describe" => Value::object([
                ("type", Value::string(arguments[0].ty().to_string())),
                ("known", known(&arguments[0])),
            ]),
            _ => {
                let error = v6::FunctionError {
                    text: text(0).to_owned(),
                    function_argument: Some(0),
                };
                return Ok(v6::call_function::Response {
                    result: None,
                    error: Some(error),
                });
            }
        };
        let ty = result.ty();
        Ok(v6::call_function::Response {
            result: Self::pack(&mut orders, &result, &ty)?,
            error: None,
        })
    }
}

/// True, or unknown as long as the value is: what is said of it must stay right.
fn known(value: &Value) -> Value {
    if value.is_wholly_known() {
        Value::Bool(true)
    } else {
        Value::unknown(Type::Bool)
    }
}

fn renewal(config: &Value) -> Option<prost_types::Timestamp> {
    let Value::Number(ms) = get(config, "renew_ms") else {
        return None;
    };
    let at = SystemTime::now() + Duration::from_millis(ms.to_string().parse().ok()?);
    Some(at.into())
}
