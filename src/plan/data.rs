//! Reading a data source.

use crate::diagnostic::Diagnostics;
use crate::plan::instance::provider_bug;
use crate::provider::Provider;
use crate::value::Value;

/// Validates the wholly known `config` and reads the data source; gives its object and warnings.
pub async fn read_data(
    provider: &dyn Provider,
    ty: &str,
    config: &Value,
) -> Result<(Value, Diagnostics), Diagnostics> {
    let mut warnings = provider.validate_data(ty, config).await?;
    let (value, more) = provider.read_data(ty, config).await?;
    warnings.extend(more);
    if value.is_null() {
        return Err(provider_bug(
            "Provider produced null object",
            "reading a data source must give an object",
        ));
    }
    if !value.is_wholly_known() {
        return Err(provider_bug(
            "Provider produced invalid object",
            "what was read holds unknown values",
        ));
    }
    Ok((value, warnings))
}
