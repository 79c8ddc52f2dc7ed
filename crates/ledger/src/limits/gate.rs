//! The request rate shared by all processes with the same ledger on a server, for each service and workspace.
//!
//! A row stores the time of the next permit. One statement takes permits for at most a tenth of a second, so that a process that
//! dies wastes few. The rows need not survive a crash of the server.

use std::time::Duration;

use sheetport_sql::{self as sql, Pool};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::locks::file_name;

/// The clock of the database, in microseconds since 1970.
const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
/// Permits are taken for this time, in microseconds.
const BATCH: i64 = 100_000;
/// Maximum wait for a permit taken in advance, in microseconds: the gate may be closed in the meantime.
const AHEAD: i64 = 1_000_000;
/// Time for a statement. Without permits, nothing is sent.
const ANSWER: Duration = Duration::from_secs(10);

/// The row of a service and workspace. Times are relative to the time of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The permits taken, or `None` if none was available.
    pub granted: Option<Granted>,
    /// When to ask again, without permits.
    pub wait: Duration,
    /// Remaining time of a pause for all processes.
    pub closed: Duration,
    /// The state of an automatic rate, as stored by [`Ledger::adjust_gate`].
    pub auto: Option<String>,
    /// Permits taken since the last adjustment of the rate. `since` is the age of the adjustment.
    pub used: u64,
    pub since: Duration,
    /// Of the state of the automatic rate.
    pub version: i64,
    /// The clock of the database, since 1970.
    pub now: Duration,
}

/// Granted permits: time of the first, interval, and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    pub first: Duration,
    pub interval: Duration,
    pub count: u32,
}

impl Ledger {
    /// Whether processes on several machines share rates by this ledger.
    pub fn has_gates(&self) -> bool {
        matches!(self.reader, Pool::Postgres { .. })
    }

    /// Takes at most `most` permits. `interval` is the time between two permits; `None` means the stored automatic rate. Unused
    /// permits are lost to the other processes.
    pub async fn take_permits(
        &self,
        base_url: &str,
        workspace: &str,
        interval: Option<Duration>,
        most: u32,
    ) -> Result<Gate, Error> {
        let identity = file_name(&[base_url, workspace]);
        let step = match interval {
            Some(interval) => format!("CAST({} AS BIGINT)", micros(interval).max(1)),
            None => "gate.interval".to_owned(),
        };
        let count = format!("GREATEST(CAST(1 AS BIGINT), LEAST({most}, {BATCH} / {step}))");
        let take = format!(
            "WITH quick AS (SELECT set_config('synchronous_commit', 'off', true)) \
             UPDATE gate SET due = GREATEST(due, {NOW}) + {count} * {step}, used = used + {count} FROM quick \
             WHERE identity = '{identity}' AND {step} IS NOT NULL AND closed_until <= {NOW} AND due <= {NOW} + {AHEAD} \
             RETURNING due - {count} * {step} - {NOW} AS first, {step} AS step, {count} AS count, {}",
            columns()
        );
        if let Some(row) = self.gate_row(take).await? {
            let number = |column: &str| row.try_get::<i64, _>(column);
            let granted = Granted {
                first: duration(number("first")?),
                interval: duration(number("step")?),
                count: u32::try_from(number("count")?).unwrap_or(1),
            };
            return gate(&row, Some(granted));
        }
        let look = format!("SELECT {} FROM gate WHERE identity = '{identity}'", columns());
        if let Some(row) = self.gate_row(look.clone()).await? {
            return gate(&row, None);
        }
        let create = format!(
            "INSERT INTO gate (identity, due, closed_until, used, adjusted_at, version) \
             VALUES ('{identity}', 0, 0, 0, {NOW}, 0) ON CONFLICT (identity) DO NOTHING"
        );
        self.gate_row(create).await?;
        let row = self.gate_row(look).await?.ok_or(sqlx::Error::RowNotFound)?;
        gate(&row, None)
    }

    /// Stops all processes from sending for some time.
    pub async fn close_gate(&self, base_url: &str, workspace: &str, time: Duration) -> Result<(), Error> {
        let identity = file_name(&[base_url, workspace]);
        let close = format!(
            "UPDATE gate SET closed_until = GREATEST(closed_until, {NOW} + {}) WHERE identity = '{identity}'",
            micros(time)
        );
        self.gate_row(close).await?;
        Ok(())
    }

    /// Stores the state of the automatic rate, unless another process has changed the rate since `version`.
    pub async fn adjust_gate(
        &self,
        base_url: &str,
        workspace: &str,
        version: i64,
        auto: &str,
        interval: Duration,
    ) -> Result<(), Error> {
        let adjust = format!(
            "UPDATE gate SET auto = $1, interval = $2, used = 0, adjusted_at = {NOW}, version = version + 1 \
             WHERE identity = $3 AND version = $4"
        );
        let adjust = sql::query(adjust).bind(auto.to_owned()).bind(micros(interval).max(1));
        adjust.bind(file_name(&[base_url, workspace])).bind(version).execute(&self.reader).await?;
        Ok(())
    }

    /// Runs a statement without parameters, in a single message. Returns the row, if any.
    async fn gate_row(&self, statement: String) -> Result<Option<PgRow>, Error> {
        if !self.has_gates() {
            return Err(Error::OnlyForServers("a shared rate"));
        }
        Ok(self.reader.raw_row(ANSWER, statement).await?)
    }
}

/// Returns the columns of a gate, in SQL.
fn columns() -> String {
    format!(
        "due - {NOW} AS ahead, closed_until - {NOW} AS closed, auto, used, {NOW} - adjusted_at AS since, version, {NOW} AS clock"
    )
}

fn gate(row: &PgRow, granted: Option<Granted>) -> Result<Gate, Error> {
    let time = |column: &str| row.try_get::<i64, _>(column).map(duration);
    Ok(Gate {
        granted,
        wait: time("ahead")?.saturating_sub(duration(AHEAD / 2)),
        closed: time("closed")?,
        auto: row.try_get("auto")?,
        used: row.try_get::<i64, _>("used")?.max(0).cast_unsigned(),
        since: time("since")?,
        version: row.try_get("version")?,
        now: time("clock")?,
    })
}

/// Returns the time remaining, or zero in the past.
fn duration(micros: i64) -> Duration {
    Duration::from_micros(micros.max(0).cast_unsigned())
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX / 4)
}
