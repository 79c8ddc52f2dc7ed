//! Writing a plan: all rows and records of a run, before sending.

use std::collections::HashSet;

use sheetport_sql as sql;

use super::super::database::{Ledger, Reach};
use super::super::error::Error;
use super::super::event::{Action, NewEvent, write_edits};
use super::super::ids::{RunId, Seq};
use super::super::outcomes::insert_outcomes;
use super::super::records::{
    BLOCK_BYTES, BLOCK_LEN, Outcome, PlannedRecord, Problem, RecordCounts, SourceRow, bodies_checksum, encode,
    encode_records, record_bytes, source_checksum,
};
use super::super::state::RecordState;
use super::run::{self, NewRun, PlannedCounts};

/// A plan being written. Not sendable before [`Plan::finish`]; a dropped plan stays unusable.
pub struct Plan {
    ledger: Ledger,
    run: RunId,
    header: Vec<String>,
    rows: Vec<SourceRow>,
    /// Number of sheet rows. A row with several records is stored several times, but counted once.
    sheet_rows: i64,
    /// Number and sheet of the last row with a record in each cell.
    last_of_cells: Option<(u64, String)>,
    row_bytes: usize,
    first_row: i64,
    records: Vec<PlannedRecord>,
    record_bytes: usize,
    first_record: Seq,
    /// Outcomes of withdrawn records, written with the next block.
    withdrawals: Vec<Outcome>,
    withdrawn: HashSet<Seq>,
    /// Warnings about the file as a whole.
    warnings: Vec<Problem>,
    /// JSON.
    profile: Option<String>,
    /// Whether the file is read with the edits of a review.
    is_edited: bool,
    /// The time of the plan.
    now: i64,
    /// The counts written so far.
    written: PlannedCounts,
}

impl Ledger {
    /// Creates a run in the state *planning* and returns an empty plan.
    pub async fn begin_plan(&self, new: &NewRun, now: i64) -> Result<Plan, Error> {
        let run = run::insert(self, new, now).await?;
        Ok(Plan {
            ledger: self.clone(),
            run,
            header: new.header.clone(),
            rows: Vec::new(),
            sheet_rows: 0,
            last_of_cells: None,
            row_bytes: 0,
            first_row: 0,
            records: Vec::new(),
            record_bytes: 0,
            first_record: 0,
            withdrawals: Vec::new(),
            withdrawn: HashSet::new(),
            warnings: Vec::new(),
            profile: None,
            is_edited: false,
            now,
            written: PlannedCounts::default(),
        })
    }
}

impl Plan {
    pub async fn add_row(&mut self, row: SourceRow) -> Result<(), Error> {
        self.row_bytes += row.cells.len();
        let of_cells = row.cell.is_some().then(|| (row.number, row.sheet.clone()));
        self.sheet_rows += i64::from(of_cells.is_none() || of_cells != self.last_of_cells);
        self.last_of_cells = of_cells;
        self.rows.push(row);
        if self.rows.len() == BLOCK_LEN || self.row_bytes > BLOCK_BYTES { self.write_rows().await } else { Ok(()) }
    }

    pub async fn add_record(&mut self, record: PlannedRecord) -> Result<(), Error> {
        self.record_bytes += record_bytes(&record);
        self.records.push(record);
        if self.records.len() == BLOCK_LEN || self.record_bytes > BLOCK_BYTES {
            self.write_records().await
        } else {
            Ok(())
        }
    }

    /// Withdraws a record planned to be sent, because another record has the same key. `state` is *rejected* or
    /// *skipped*. A record withdrawn again keeps the first problem.
    pub fn withdraw(&mut self, seq: Seq, state: RecordState, problem: Problem, now: i64) {
        self.leave_out(Outcome { problems: vec![problem], ..Outcome::new(seq, state, now) });
    }

    /// Decides the outcome of a record planned to be sent, so that it is not sent. The first decision about a record stays.
    pub fn leave_out(&mut self, outcome: Outcome) {
        if self.withdrawn.insert(outcome.seq) {
            self.withdrawals.push(outcome);
        }
    }

    /// Adds a warning about the file as a whole.
    pub fn warn(&mut self, warning: Problem) {
        self.warnings.push(warning);
    }

    /// Sets the profile of the file, as JSON, for comparison with later files.
    pub fn set_profile(&mut self, profile: String) {
        self.profile = Some(profile);
    }

    /// Notes that the file is read with the edits of a review.
    pub fn set_edited(&mut self) {
        self.is_edited = true;
    }

    /// Completes the plan, ready to be sent, and returns the run. `width` is the number of cells in the longest row.
    pub async fn finish(mut self, width: usize) -> Result<RunId, Error> {
        self.header.resize(width.max(self.header.len()), String::new());
        self.write_rows().await?;
        self.write_records().await?;
        let mut transaction = self.ledger.begin().await?;
        insert_outcomes(&mut transaction, self.run, &self.withdrawals).await?;
        if self.is_edited {
            write_edits(&mut transaction, self.run).await?;
        }
        let (warnings, profile) = (&self.warnings, self.profile.as_deref());
        run::mark_planned(&mut transaction, self.run, &self.header, warnings, profile, &self.written).await?;
        let planned = NewEvent::of(Action::Planned).counting(self.written.records);
        planned.write(&mut transaction, self.run, self.now).await?;
        transaction.commit().await?;
        self.ledger.note_reach(Reach { run: self.run, claim: 0 }).await;
        Ok(self.run)
    }

    /// Removes all rows and records, because the sheet is read again.
    pub async fn clear(&mut self) -> Result<(), Error> {
        self.ledger.remove_plan(self.run).await?;
        (self.first_row, self.row_bytes, self.first_record, self.record_bytes) = (0, 0, 0, 0);
        (self.sheet_rows, self.last_of_cells) = (0, None);
        self.written = PlannedCounts::default();
        self.rows.clear();
        self.records.clear();
        self.withdrawals.clear();
        self.withdrawn.clear();
        self.warnings.clear();
        Ok(())
    }

    /// Deletes the plan with the run, because the file can't be read to the end.
    pub async fn abandon(self) -> Result<(), Error> {
        self.ledger.remove(self.run, None).await
    }

    async fn write_rows(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let count = self.rows.len() as i64;
        let body = encode(&self.rows)?;
        let sheet_rows = std::mem::take(&mut self.sheet_rows);
        let checksum = source_checksum(self.run, self.first_row, count, sheet_rows, &body);
        let query =
            "INSERT INTO source_block (run, first, rows, sheet_rows, body, checksum) VALUES ($1, $2, $3, $4, $5, $6)";
        let query = sql::query(query).bind(self.run).bind(self.first_row).bind(count).bind(sheet_rows);
        let mut transaction = self.ledger.begin().await?;
        query.bind(body).bind(checksum).execute(&mut transaction).await?;
        transaction.commit().await?;
        self.first_row += count;
        self.written.source_rows += count;
        self.written.sheet_rows += sheet_rows;
        self.rows.clear();
        self.row_bytes = 0;
        Ok(())
    }

    async fn write_records(&mut self) -> Result<(), Error> {
        if self.records.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(&mut self.records);
        let counts = RecordCounts::of(self.first_record, &records);
        let encoded = encode_records(records)?;
        let mut transaction = self.ledger.begin().await?;
        sql::query(
            "INSERT INTO record_block (run, first, records, skipped, rejected, unchanged, warned, checksum, \
             bodies_checksum, heads, bodies) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(self.run)
        .bind(counts.first)
        .bind(counts.records)
        .bind(counts.skipped)
        .bind(counts.rejected)
        .bind(counts.unchanged)
        .bind(counts.warned)
        .bind(counts.checksum(self.run, &encoded.heads))
        .bind(bodies_checksum(self.run, counts.first, &encoded.bodies))
        .bind(encoded.heads)
        .bind(encoded.bodies)
        .execute(&mut transaction)
        .await?;
        insert_outcomes(&mut transaction, self.run, &self.withdrawals).await?;
        transaction.commit().await?;
        self.withdrawals.clear();
        self.first_record += counts.records;
        self.written.add(&counts);
        self.record_bytes = 0;
        Ok(())
    }
}
