//! When a run and its workspace were last given a worker. `sending::turns` reads it.

use sheetport_sql::Transaction;

use super::super::error::Error;
use super::super::ids::RunId;

/// Notes that a part of a run is given to a worker.
pub(super) async fn note(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    // The row of the workspace first, always: else two workers could wait for each other.
    let notes = ["0", "id"].map(|of| {
        format!(
            "INSERT INTO turn (base_url, workspace, run, at) SELECT base_url, workspace, {of}, clock_timestamp() FROM run \
             WHERE id = {run} ON CONFLICT (base_url, workspace, run) DO UPDATE SET at = excluded.at"
        )
    });
    transaction.raw_row(notes.join("; ")).await?;
    Ok(())
}
