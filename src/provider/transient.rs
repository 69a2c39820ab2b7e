//! What a provider gives without storing anything: ephemeral resources, and the results of its functions.

use std::time::{Duration, SystemTime};

use super::client::Plugin;
use super::convert::{CAPABILITIES, from_diagnostics};
use super::proto::tfplugin6 as pb;
use super::provider::{Lease, Opened};
use super::rpc::Rpc;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::Function;
use crate::value::{Path, Value};

impl Plugin {
    pub(super) async fn validate_ephemeral_resource(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Diagnostics, Diagnostics> {
        let (_, kind) = self.ephemeral(ty)?;
        let request = pb::validate_ephemeral_resource_config::Request {
            type_name: ty.to_owned(),
            config: self.send(config, &kind.ty)?,
        };
        let answer: pb::validate_ephemeral_resource_config::Response = self
            .session
            .call(Rpc::ValidateEphemeralResourceConfig, request)
            .await?;
        from_diagnostics(answer.diagnostics).into_result()
    }

    pub(super) async fn open_ephemeral(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<(Opened, Diagnostics), Diagnostics> {
        let (_, kind) = self.ephemeral(ty)?;
        let request = pb::open_ephemeral_resource::Request {
            type_name: ty.to_owned(),
            config: self.send(config, &kind.ty)?,
            client_capabilities: CAPABILITIES,
        };
        let answer: pb::open_ephemeral_resource::Response = self
            .session
            .call(Rpc::OpenEphemeralResource, request)
            .await?;
        let warnings = self
            .diagnostics(answer.diagnostics, answer.deferred)
            .into_result()?;
        let lease = Lease {
            renew_at: answer.renew_at.and_then(time),
            private: answer.private,
        };
        match self.opened(ty, answer.result) {
            Ok(value) => Ok((Opened { value, lease }, warnings)),
            Err(mut problems) => {
                // It is open all the same.
                if let Err(more) = self.close_ephemeral(ty, &lease).await {
                    problems.extend(more);
                }
                Err(problems)
            }
        }
    }

    fn opened(&self, ty: &str, result: Option<pb::DynamicValue>) -> Result<Value, Diagnostics> {
        let (_, kind) = self.ephemeral(ty)?;
        let value = self.receive(result, &kind.ty, "Provider produced invalid object")?;
        let what = if value.is_null() {
            "gave no object"
        } else if value.is_wholly_known() {
            return Ok(value);
        } else {
            "gave an object with unknown values"
        };
        let what = format!("ephemeral resource {ty} {what}");
        Err(self.fault("Provider produced invalid object", &what).into())
    }

    pub(super) async fn renew_ephemeral(
        &self,
        ty: &str,
        lease: &Lease,
    ) -> Result<(Lease, Diagnostics), Diagnostics> {
        let request = pb::renew_ephemeral_resource::Request {
            type_name: ty.to_owned(),
            private: lease.private.clone(),
        };
        let answer: pb::renew_ephemeral_resource::Response = self
            .session
            .call(Rpc::RenewEphemeralResource, request)
            .await?;
        let warnings = from_diagnostics(answer.diagnostics).into_result()?;
        let given = answer.private.filter(|bytes| !bytes.is_empty());
        let lease = Lease {
            renew_at: answer.renew_at.and_then(time),
            private: given.or_else(|| lease.private.clone()),
        };
        Ok((lease, warnings))
    }

    pub(super) async fn close_ephemeral(
        &self,
        ty: &str,
        lease: &Lease,
    ) -> Result<Diagnostics, Diagnostics> {
        let request = pb::close_ephemeral_resource::Request {
            type_name: ty.to_owned(),
            private: lease.private.clone(),
        };
        let answer: pb::close_ephemeral_resource::Response = self
            .session
            .call(Rpc::CloseEphemeralResource, request)
            .await?;
        from_diagnostics(answer.diagnostics).into_result()
    }

    pub(super) async fn call_function(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, Diagnostics> {
        let function = self.function(name)?;
        let sent: Result<Vec<_>, Diagnostics> = (function.parameters_of(arguments.len()))
            .zip(arguments)
            .map(|(parameter, argument)| {
                Ok(self.send(argument, &parameter.ty)?.unwrap_or_default())
            })
            .collect();
        let request = pb::call_function::Request {
            name: name.to_owned(),
            arguments: sent?,
        };
        let answer: pb::call_function::Response =
            self.session.call(Rpc::CallFunction, request).await?;
        if let Some(error) = answer.error {
            let argument = error.function_argument.and_then(|i| u64::try_from(i).ok());
            let failed = Diagnostic::error("Error in function call").detail(error.text);
            return Err(match argument {
                Some(index) => failed.path(Path::root().index(index)).into(),
                None => failed.into(),
            });
        }
        let value = self.receive(
            answer.result,
            &function.returns,
            "Provider produced invalid result",
        )?;
        if !value.is_wholly_known() && arguments.iter().all(Value::is_wholly_known) {
            let what = format!("function {name} gave an unknown result for known arguments");
            return Err(self.fault("Provider produced invalid result", &what).into());
        }
        Ok(value)
    }

    fn function(&self, name: &str) -> Result<&Function, Diagnostics> {
        let functions = &self.catalog.schema.functions;
        functions
            .get(name)
            .ok_or_else(|| self.no_such("function", name))
    }
}

fn time(stamp: prost_types::Timestamp) -> Option<SystemTime> {
    let nanos = u32::try_from(stamp.nanos).ok()?;
    let since = Duration::new(u64::try_from(stamp.seconds).ok()?, nanos);
    SystemTime::UNIX_EPOCH.checked_add(since)
}
