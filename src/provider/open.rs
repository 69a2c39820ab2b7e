//! Ephemeral resources that are open: renewed in time, closed in the end.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::pool::{Pool, lock};
use super::provider::{Lease, Provider};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::Value;

/// How long closing one may take, a renewal under way included.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// One open ephemeral resource.
pub(super) struct Open {
    address: String,
    ty: String,
    provider: Arc<dyn Provider>,
    /// Ends the renewals.
    enough: Arc<Notify>,
    /// The last lease, and what went wrong on the way there.
    renewals: JoinHandle<(Lease, Diagnostics)>,
}

impl Pool {
    /// Opens an ephemeral resource and keeps it open until [`Pool::close_opened`]; gives its object and warnings.
    pub async fn open(
        &self,
        provider: &Arc<dyn Provider>,
        address: &str,
        ty: &str,
        config: &Value,
    ) -> Result<(Value, Diagnostics), Diagnostics> {
        let (opened, warnings) = provider.open(ty, config).await?;
        let enough = Arc::new(Notify::new());
        let renewals = tokio::spawn(renew(
            Arc::clone(provider),
            ty.to_owned(),
            opened.lease,
            Arc::clone(&enough),
        ));
        lock(&self.open).push(Open {
            address: address.to_owned(),
            ty: ty.to_owned(),
            provider: Arc::clone(provider),
            enough,
            renewals,
        });
        Ok((opened.value, warnings))
    }

    /// Closes all that is open; gives what went wrong then or at a renewal, with addresses.
    pub async fn close_opened(&self) -> Diagnostics {
        let open = std::mem::take(&mut *lock(&self.open));
        let mut all = Diagnostics::default();
        for (address, problems) in join_all(open.into_iter().map(close)).await {
            all.extend_at(problems, &address);
        }
        all
    }
}

/// Renews whenever it is time; ends when it need not be renewed any more, cannot be, or is to be closed.
async fn renew(
    provider: Arc<dyn Provider>,
    ty: String,
    mut lease: Lease,
    enough: Arc<Notify>,
) -> (Lease, Diagnostics) {
    let mut problems = Diagnostics::default();
    while let Some(at) = lease.renew_at {
        let left = at.duration_since(SystemTime::now()).unwrap_or_default();
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = enough.notified() => break,
        }
        match provider.renew(&ty, &lease).await {
            Ok((renewed, warnings)) => {
                lease = renewed;
                problems.extend(warnings);
            }
            Err(failed) => {
                problems.extend(failed);
                break;
            }
        }
    }
    (lease, problems)
}

async fn close(open: Open) -> (String, Diagnostics) {
    let Open {
        address,
        ty,
        provider,
        enough,
        renewals,
    } = open;
    enough.notify_one();
    let closed = timeout(CLOSE_TIMEOUT, async {
        let (lease, mut problems) = renewals.await.unwrap_or_default();
        match provider.close(&ty, &lease).await {
            Ok(more) | Err(more) => problems.extend(more),
        }
        problems
    });
    let problems = closed.await.unwrap_or_else(|_elapsed| {
        let seconds = CLOSE_TIMEOUT.as_secs();
        let detail = format!("the provider did not close it within {seconds} seconds");
        Diagnostic::error("Ephemeral resource was not closed")
            .detail(detail)
            .into()
    });
    (address, problems)
}
