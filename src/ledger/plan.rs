//! Writing a plan: all rows and records of a run, before anything is sent.

use std::collections::HashSet;

use super::block::{BLOCK_BYTES, BLOCK_LEN, Fate, PlannedRecord, Problem, SourceRow, encode_records, encode_rows};
use super::error::Error;
use super::open::Ledger;
use super::run::{self, NewRun};
use super::send::{self, Outcome, OutcomeState};
use super::{RunId, Seq};

/// A plan being written. Until [`Plan::finish`] nothing of it can be sent; dropped, it stays unusable.
pub struct Plan {
    ledger: Ledger,
    run: RunId,
    header: Vec<String>,
    rows: Vec<SourceRow<'static>>,
    row_bytes: usize,
    first_row: i64,
    records: Vec<PlannedRecord>,
    record_bytes: usize,
    first_record: Seq,
    /// Records found to be wrong after they were planned, written with the next block.
    late: Vec<Outcome>,
    taken_back: HashSet<Seq>,
}

/// A plan that is complete.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    pub run: RunId,
}

impl Ledger {
    pub async fn begin_plan(&self, new: &NewRun, now: i64) -> Result<Plan, Error> {
        let run = run::insert(&self.writer, new, now).await?;
        Ok(Plan {
            ledger: self.clone(),
            run,
            header: new.header.clone(),
            rows: Vec::new(),
            row_bytes: 0,
            first_row: 0,
            records: Vec::new(),
            record_bytes: 0,
            first_record: 0,
            late: Vec::new(),
            taken_back: HashSet::new(),
        })
    }
}

impl Plan {
    pub async fn row(&mut self, row: SourceRow<'static>) -> Result<(), Error> {
        self.row_bytes += row.cells.len();
        self.rows.push(row);
        if self.rows.len() == BLOCK_LEN || self.row_bytes > BLOCK_BYTES { self.write_rows().await } else { Ok(()) }
    }

    pub async fn record(&mut self, record: PlannedRecord) -> Result<(), Error> {
        self.record_bytes += record.text_len();
        self.records.push(record);
        if self.records.len() == BLOCK_LEN || self.record_bytes > BLOCK_BYTES {
            self.write_records().await
        } else {
            Ok(())
        }
    }

    /// Takes back a record that was planned to be sent: another one has its key. `state` says whether it is wrong or only
    /// left out. Taken back again, it keeps the first problem.
    pub fn take_back(&mut self, seq: Seq, state: OutcomeState, problem: Problem, now: i64) {
        if self.taken_back.insert(seq) {
            self.late.push(Outcome { problems: vec![problem], ..Outcome::new(seq, state, now) });
        }
    }

    /// Makes the plan durable and sendable. `width` is the number of cells of the longest row.
    pub async fn finish(mut self, width: usize) -> Result<Planned, Error> {
        self.header.resize(width.max(self.header.len()), String::new());
        self.write_rows().await?;
        self.write_records().await?;
        let mut transaction = self.ledger.writer.begin_with("BEGIN IMMEDIATE").await?;
        send::insert_outcomes(&mut transaction, self.run, &self.late).await?;
        run::mark_planned(&mut transaction, self.run, &self.header).await?;
        transaction.commit().await?;
        Ok(Planned { run: self.run })
    }

    /// Takes the plan out of the ledger: its file can't be read to the end, and nothing of it was sent.
    pub async fn abandon(self) -> Result<(), Error> {
        let mut transaction = self.ledger.writer.begin_with("BEGIN IMMEDIATE").await?;
        for statement in [
            "DELETE FROM source_block WHERE run = $1",
            "DELETE FROM record_block WHERE run = $1",
            "DELETE FROM run WHERE id = $1",
        ] {
            sqlx::query(statement).bind(self.run).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    async fn write_rows(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let body = encode_rows(&self.rows)?;
        sqlx::query("INSERT INTO source_block (run, first, rows, body) VALUES ($1, $2, $3, $4)")
            .bind(self.run)
            .bind(self.first_row)
            .bind(self.rows.len() as i64)
            .bind(body)
            .execute(&self.ledger.writer)
            .await?;
        self.first_row += self.rows.len() as i64;
        self.rows.clear();
        self.row_bytes = 0;
        Ok(())
    }

    async fn write_records(&mut self) -> Result<(), Error> {
        if self.records.is_empty() {
            return Ok(());
        }
        let count =
            |wanted: fn(&Fate) -> bool| self.records.iter().filter(|record| wanted(&record.fate)).count() as i64;
        let packed = encode_records(&self.records)?;
        let mut transaction = self.ledger.writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query(
            "INSERT INTO record_block (run, first, records, skipped, rejected, unchanged, heads, bodies) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(self.run)
        .bind(self.first_record)
        .bind(self.records.len() as i64)
        .bind(count(|fate| matches!(fate, Fate::Skipped)))
        .bind(count(|fate| matches!(fate, Fate::Rejected(_))))
        .bind(count(|fate| matches!(fate, Fate::Kept(_))))
        .bind(packed.heads)
        .bind(packed.bodies)
        .execute(&mut *transaction)
        .await?;
        send::insert_outcomes(&mut transaction, self.run, &self.late).await?;
        transaction.commit().await?;
        self.late.clear();
        self.first_record += self.records.len() as Seq;
        self.records.clear();
        self.record_bytes = 0;
        Ok(())
    }
}
