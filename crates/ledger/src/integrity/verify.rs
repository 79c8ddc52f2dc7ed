//! The check of a run before sending. Reads the same data as the sender, by the same queries, and compares it with the stored
//! counts and sums. Takes about a second for a million records.

use sheetport_sql::{self as sql, Row};

use super::super::checksums::totals::{self, Sum, Totals};
use super::super::database::Ledger;
use super::super::error::{Error, damaged};
use super::super::ids::RunId;
use super::super::outcomes::outcome_state;
use super::super::runs::{PlannedCounts, Run};
use super::super::state::{RecordState, RunState};

/// Maximum file size for a structure check before each planned or resumed run, in bytes. Takes about 50 ms.
const SMALL_FILE: u64 = 16 * 1024 * 1024;

impl Ledger {
    /// Checks the structure of the file, unless the file is large. In a large file, a damaged page is found when read or written,
    /// which may be after some requests.
    pub(crate) async fn verify_small_file(&self) -> Result<(), Error> {
        let Some(path) = &self.file else { return Ok(()) };
        if path.metadata().is_ok_and(|file| file.len() > SMALL_FILE) {
            return Ok(());
        }
        let found: Vec<String> = sql::query_scalar("PRAGMA integrity_check(1)").fetch_all(&self.reader).await?;
        match found.into_iter().find(|line| line != "ok") {
            None => Ok(()),
            Some(what) => Err(Error::DamagedFile { path: path.clone(), what: what.replace('\n', ": ") }),
        }
    }

    /// Checks that nothing that affects the requests of a run was lost or altered: row, plan, outcomes, resolutions and records
    /// in flight.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the first damage, including damage found by an earlier version.
    pub(crate) async fn verify(&self, run: RunId) -> Result<(), Error> {
        let run = self.run(run).await?;
        if let Some(damage) = &run.damage {
            return Err(damaged(run.id, damage));
        }
        // An incomplete plan is never sent.
        if run.state == RunState::Planning {
            return Ok(());
        }
        if run.has_plan {
            self.verify_plan(&run).await?;
        }
        self.verify_totals(run.id).await
    }

    /// Compares the rows added by sending with the counts and sums stored for the run.
    async fn verify_totals(&self, run: RunId) -> Result<(), Error> {
        let stored = totals::load(&self.reader, run).await?;
        let actual = self.actual_totals(run, stored).await?;
        match differences(&stored, &actual).first() {
            None => Ok(()),
            Some(what) => Err(damaged(run, what)),
        }
    }

    /// Checks the blocks and their counts.
    pub(super) async fn verify_plan(&self, run: &Run) -> Result<(), Error> {
        let mut counts = PlannedCounts::default();
        let mut from = 0;
        while let Some(block) = self.record_counts(run.id, from).await? {
            if block.first != from || block.records <= 0 {
                return Err(damaged(run.id, format_args!("the records from {from} on are missing")));
            }
            counts.add(&block);
            from = block.end();
        }
        let query = "SELECT COUNT(*), COALESCE(CAST(SUM(rows) AS BIGINT), 0), COALESCE(CAST(SUM(sheet_rows) AS BIGINT), 0) \
                     FROM source_block WHERE run = $1";
        let rows = sql::query(query).bind(run.id).fetch_one(&self.reader).await?;
        (counts.source_rows, counts.sheet_rows) = (rows.try_get(1)?, rows.try_get(2)?);
        let planned = run.planned;
        if counts.records != planned.records {
            return Err(damaged(
                run.id,
                format_args!("{} of its {} records are there", counts.records, planned.records),
            ));
        }
        if counts != planned {
            let (there, stored) = (counts.sheet_rows, planned.sheet_rows);
            return Err(damaged(
                run.id,
                format_args!("its plan has other counts than when it was written: {there} of {stored} rows are there"),
            ));
        }
        Ok(())
    }

    /// Counts the rows of a run. Finds outcomes by the ranges of the blocks, like the sender. Copies requests and retries from
    /// `stored`.
    pub(super) async fn actual_totals(&self, run: RunId, stored: Totals) -> Result<Totals, Error> {
        let mut totals = Totals { requests: stored.requests, retries: stored.retries, ..Totals::default() };
        let query = "SELECT outcome.state, COUNT(*), CAST(SUM(outcome.seq) AS BIGINT), \
                     CAST(SUM(outcome.checksum) AS BIGINT) FROM record_block CROSS JOIN outcome \
                     WHERE outcome.run = record_block.run AND outcome.seq >= record_block.first \
                     AND outcome.seq < record_block.first + record_block.records \
                     AND record_block.run = $1 GROUP BY outcome.state";
        for row in sql::query(query).bind(run).fetch_all(&self.reader).await? {
            let (state, count) = add_group(&mut totals.outcomes, &row)?;
            totals.states.add(state, count);
        }
        let query = "SELECT state, COUNT(*), CAST(SUM(seq) AS BIGINT), CAST(SUM(checksum) AS BIGINT) FROM resolution \
                     WHERE run = $1 GROUP BY state";
        for row in sql::query(query).bind(run).fetch_all(&self.reader).await? {
            let (state, count) = add_group(&mut totals.resolutions, &row)?;
            totals.states.add(state, count);
            totals.states.add(RecordState::Unknown, -count);
        }
        let query = "SELECT COUNT(*), COALESCE(CAST(SUM(seq) AS BIGINT), 0) FROM in_flight WHERE run = $1";
        let (rows, seqs) = sql::query_as(query).bind(run).fetch_one(&self.reader).await?;
        totals.in_flight = Sum { rows, seqs, checksums: 0 };
        let query = "SELECT COUNT(*) FROM claim WHERE run = $1";
        totals.claims = sql::query_scalar(query).bind(run).fetch_one(&self.reader).await?;
        Ok(totals)
    }
}

/// Adds a group of rows with the same state: state, number, sum of positions, and sum of checksums. Returns state and number.
fn add_group(sum: &mut Sum, row: &Row) -> Result<(RecordState, i64), Error> {
    let (state, count) = (outcome_state(row.try_get(0)?)?, row.try_get::<i64, _>(1)?);
    sum.rows += count;
    sum.seqs += row.try_get::<i64, _>(2)?;
    sum.checksums += row.try_get::<i64, _>(3)?;
    Ok((state, count))
}

/// Describes the differences between the stored and the actual totals of a run.
pub(super) fn differences(stored: &Totals, actual: &Totals) -> Vec<String> {
    let compare = |what: &str, stored: Sum, actual: Sum| {
        if stored.rows != actual.rows {
            Some(format!("{} of its {} {what} are there", actual.rows, stored.rows))
        } else if stored != actual {
            Some(format!("one of its {} {what} was altered", stored.rows))
        } else {
            None
        }
    };
    let claims = Sum { rows: stored.claims, ..Sum::default() };
    [
        compare("outcomes", stored.outcomes, actual.outcomes),
        compare("decisions about unknown records", stored.resolutions, actual.resolutions),
        compare("records in flight", stored.in_flight, actual.in_flight),
        compare("started requests", claims, Sum { rows: actual.claims, ..Sum::default() }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
