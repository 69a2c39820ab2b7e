//! The plan of a removal.

use crate::diagnostic::Diagnostics;
use crate::plan::instance::provider_bug;
use crate::plan::prior::Prior;
use crate::provider::{PlanRequest, Provider};
use crate::value::{Type, Value};

/// Asks the provider about the removal of `prior`, if it wants to be asked; gives the private bytes for the apply and
/// warnings.
pub async fn plan_removal(
    provider: &dyn Provider,
    ty: &str,
    implied: &Type,
    prior: &Prior,
) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
    if !provider.schema().capabilities.plan_destroy {
        return Ok((prior.private.clone(), Diagnostics::default()));
    }
    let null = Value::null(implied.clone());
    let response = provider
        .plan(PlanRequest {
            ty,
            prior: &prior.value,
            proposed: &null,
            config: &null,
            private: &prior.private,
            identity: prior.identity.as_ref(),
        })
        .await;
    let warnings = response.diagnostics.into_result()?;
    if response.planned.is_some_and(|v| !v.is_null()) {
        return Err(provider_bug(
            "Provider produced invalid plan",
            "it planned an object to be there after its removal",
        ));
    }
    Ok((response.private, warnings))
}
