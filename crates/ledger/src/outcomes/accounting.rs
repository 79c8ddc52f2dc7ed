//! The number of records in each state.

use sheetport_sql::{self as sql, Query, Results, Row, Transaction};

use super::super::checksums::totals;
use super::super::database::Ledger;
use super::super::error::{Error, corrupt};
use super::super::ids::RunId;
use super::super::state::RecordState;

/// Number of records of a run in each state. `total` is the sum of the seven counts after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Accounting {
    /// Spreadsheet rows, without blank rows.
    pub rows: u64,
    pub total: u64,
    pub sent: u64,
    pub unchanged: u64,
    pub skipped: u64,
    pub rejected: u64,
    pub failed: u64,
    pub unknown: u64,
    pub pending: u64,
    /// Records to be sent despite a warning. Also counted in one of the seven states.
    pub warned: u64,
    /// Requests made, successful or not.
    pub requests: u64,
    /// Requests that repeat an earlier request for the same record.
    pub retries: u64,
}

impl Accounting {
    /// Returns the number of records in each state, in the order of [`RecordState::ALL`].
    pub fn states(&self) -> [(RecordState, u64); 7] {
        RecordState::ALL.map(|state| (state, self.count(state)))
    }

    fn count(mut self, state: RecordState) -> u64 {
        *self.count_mut(state)
    }

    fn count_mut(&mut self, state: RecordState) -> &mut u64 {
        match state {
            RecordState::Sent => &mut self.sent,
            RecordState::Unchanged => &mut self.unchanged,
            RecordState::Skipped => &mut self.skipped,
            RecordState::Rejected => &mut self.rejected,
            RecordState::Failed => &mut self.failed,
            RecordState::Unknown => &mut self.unknown,
            RecordState::Pending => &mut self.pending,
        }
    }
}

impl Ledger {
    /// Counts the records of a run by state.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if more outcomes are stored than records were planned.
    pub async fn accounting(&self, run: RunId) -> Result<Accounting, Error> {
        if let Some(counts) = self.counts_without_plan(run).await? {
            return Ok(Accounting {
                rows: count(counts.sheet_rows)?,
                total: count(counts.records)?,
                unchanged: count(counts.unchanged)?,
                skipped: count(counts.skipped)?,
                ..Accounting::default()
            });
        }
        let mut transaction = self.reader.begin_reading().await?;
        let accounting = accounting_in(&mut transaction, run).await?;
        transaction.commit().await?;
        Ok(accounting)
    }

    /// Does the same as [`Ledger::accounting`] for a run whose sending has just failed: records in flight that may not be repeated are
    /// counted as unknown, as the next resume will find them.
    ///
    /// # Errors
    /// Those of [`Ledger::accounting`].
    pub async fn accounting_in_doubt(&self, run: RunId) -> Result<Accounting, Error> {
        let mut accounting = self.accounting(run).await?;
        let query = "SELECT COUNT(*) FROM in_flight WHERE run = $1 AND has_key = 0";
        let in_flight: i64 = sql::query_scalar(query).bind(run).fetch_one(&self.reader).await?;
        let in_doubt = count(in_flight)?.min(accounting.pending);
        accounting.pending -= in_doubt;
        accounting.unknown += in_doubt;
        Ok(accounting)
    }
}

/// Does the same as [`Ledger::accounting`] within a transaction, for a run with its plan.
pub(crate) async fn accounting_in(transaction: &mut Transaction, run: RunId) -> Result<Accounting, Error> {
    let results = transaction.run_all(accounting_queries(run)).await?;
    accounting_of(run, &results)
}

/// Returns the queries of [`accounting_of`].
pub(crate) fn accounting_queries(run: RunId) -> Vec<Query<Row>> {
    let rows = "SELECT COALESCE(CAST(SUM(sheet_rows) AS BIGINT), 0) FROM source_block WHERE run = $1";
    let planned = "SELECT COALESCE(CAST(SUM(records) AS BIGINT), 0), COALESCE(CAST(SUM(skipped) AS BIGINT), 0), \
                   COALESCE(CAST(SUM(rejected) AS BIGINT), 0), COALESCE(CAST(SUM(unchanged) AS BIGINT), 0), \
                   COALESCE(CAST(SUM(warned) AS BIGINT), 0) FROM record_block WHERE run = $1";
    vec![sql::query(rows).bind(run), sql::query(planned).bind(run), totals::loading(run)]
}

/// Returns the accounting in the results of [`accounting_queries`].
pub(crate) fn accounting_of(run: RunId, results: &[Results]) -> Result<Accounting, Error> {
    let row = |nth: usize| results.get(nth).and_then(|result| result.rows().first());
    let one = |nth: usize| row(nth).ok_or(sqlx::Error::RowNotFound);
    let (rows, planned) = (one(0)?.try_get(0)?, one(1)?);
    let mut accounting = Accounting {
        rows: count(rows)?,
        total: count(planned.try_get(0)?)?,
        skipped: count(planned.try_get(1)?)?,
        rejected: count(planned.try_get(2)?)?,
        unchanged: count(planned.try_get(3)?)?,
        warned: count(planned.try_get(4)?)?,
        ..Accounting::default()
    };
    let totals = totals::of_row(run, row(2))?;
    for (state, outcomes) in totals.states.iter() {
        *accounting.count_mut(state) += count(outcomes)?;
    }
    (accounting.requests, accounting.retries) = (count(totals.requests)?, count(totals.retries)?);
    let settled: u64 = accounting.states().into_iter().map(|(_, count)| count).sum();
    let too_many = || corrupt(format_args!("run {run} has more outcomes than records"));
    accounting.pending = accounting.total.checked_sub(settled).ok_or_else(too_many)?;
    Ok(accounting)
}

fn count(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(corrupt)
}
