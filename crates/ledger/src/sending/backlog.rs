//! What waits for workers, by workspace.

use std::time::Duration;

use sheetport_sql::{self as sql, Dialect};

use super::super::database::Ledger;
use super::super::error::{Error, corrupt};
use super::super::event::Action;

/// The queued runs of a service and workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    pub base_url: String,
    pub workspace: String,
    pub runs: u64,
    /// Their pending records.
    pub records: u64,
    /// How long the oldest run has been queued of which no worker is sending a part. Zero without one.
    pub waits: Duration,
    /// Runs that the last worker that tried could not send.
    pub set_aside: u64,
}

impl Ledger {
    /// Returns the queued runs by service and workspace, in the order of their names.
    pub async fn backlog(&self) -> Result<Vec<Backlog>, Error> {
        let is_sent = match self.dialect() {
            Dialect::Sqlite => "FALSE",
            Dialect::Postgres => "EXISTS (SELECT 1 FROM part WHERE part.run = run.id AND part.until > now())",
        };
        let query = format!(
            "SELECT base_url, workspace, COUNT(*), CAST(SUM(records - run.skipped - run.rejected - run.unchanged - total.sent \
             - total.unchanged - total.skipped - total.rejected - total.failed - total.unknown) AS BIGINT), \
             MIN(CASE WHEN {is_sent} THEN NULL ELSE queued_at END), \
             CAST(SUM(CASE WHEN (SELECT action FROM event WHERE event.run = run.id ORDER BY last_at DESC, event.id DESC LIMIT 1) = $1 \
             THEN 1 ELSE 0 END) AS BIGINT) FROM run JOIN total ON total.run = run.id WHERE state = 'queued' AND damage IS NULL \
             GROUP BY base_url, workspace ORDER BY base_url, workspace"
        );
        let rows = sql::query(query).bind(Action::SetAside.name()).fetch_all(&self.reader).await?;
        let now = self.now();
        let backlog = rows.iter().map(|row| {
            let number =
                |at: usize| -> Result<u64, Error> { u64::try_from(row.try_get::<i64, _>(at)?).map_err(corrupt) };
            let oldest: Option<i64> = row.try_get(4)?;
            let waits = oldest.map_or(0, |oldest| now.saturating_sub(oldest).max(0)).cast_unsigned();
            Ok(Backlog {
                base_url: row.try_get(0)?,
                workspace: row.try_get(1)?,
                runs: number(2)?,
                records: number(3)?,
                waits: Duration::from_millis(waits),
                set_aside: number(5)?,
            })
        });
        backlog.collect()
    }
}
