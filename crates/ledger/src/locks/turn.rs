//! When a run and its workspace were last given a worker. `sending::turns` reads it.

use sheetport_sql::{self as sql, Query, Row};

use super::super::ids::RunId;

/// Returns the statements that note that a part of a run is given to a worker.
pub(super) fn noting(run: RunId) -> impl Iterator<Item = Query<Row>> {
    // The row of the workspace first, always: else two workers could wait for each other.
    let note = |of| {
        format!(
            "INSERT INTO turn (base_url, workspace, run, at) SELECT base_url, workspace, {of}, clock_timestamp() FROM run \
             WHERE id = $1 ON CONFLICT (base_url, workspace, run) DO UPDATE SET at = excluded.at"
        )
    };
    ["0", "id"].into_iter().map(move |of| sql::query(note(of)).bind(run))
}
