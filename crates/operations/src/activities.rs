//! Exports and runs of jobs in the ledger, for the list of what was done. What can't be noted stops nothing.

use futures_util::future::BoxFuture;
use sheetport_ledger::{ActivityEnd, ActivityKind, ActivityOutcome, NewActivity};

use super::context::Context;
use super::error::Error;

/// Notes that an export or a job begins, in the ledger, which is created if there is none. Returns its number for [`end_activity`].
pub fn begin_activity<'a>(
    context: &'a Context,
    kind: ActivityKind,
    name: &'a str,
    file: Option<&'a str>,
) -> BoxFuture<'a, Option<i64>> {
    Box::pin(async move {
        let workspace = context.workspace();
        let base_url = context.base_url().ok();
        let noted = async {
            let ledger = context.ledger().await?;
            let activity = NewActivity { kind, name, file, base_url, workspace: &workspace };
            let begun = ledger.begin_activity(activity, ledger.now()).await?;
            ledger.close().await;
            Ok::<i64, Error>(begun)
        };
        noted.await.inspect_err(|error| tracing::warn!(%error, "`runs` will not list this {}", kind.name())).ok()
    })
}

/// Notes the end of what [`begin_activity`] noted.
pub fn end_activity(
    context: &Context,
    begun: Option<i64>,
    outcome: ActivityOutcome,
    count: Option<u64>,
    note: Option<String>,
) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        let Some(begun) = begun else { return };
        let noted = async {
            let ledger = context.ledger().await?;
            ledger.end_activity(begun, &ActivityEnd { at: ledger.now(), outcome, count, note }).await?;
            ledger.close().await;
            Ok::<(), Error>(())
        };
        let _ = noted.await.inspect_err(|error| tracing::warn!(%error, "`runs` will not list the end"));
    })
}
