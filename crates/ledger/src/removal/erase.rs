//! Erasing what a run stores about single records, such as those of one person: rows, cells, requests, problems, messages and ids of
//! the service. Blocks are compressed together, so they are written anew. The numbers of rows and records, their states and the
//! hashes that recognise what was sent stay, so that counts and checksums hold and nothing is sent twice.

use std::collections::BTreeSet;

use sheetport_findings::Code;
use sheetport_sql::{self as sql, Transaction};

use super::super::checksums::seal;
use super::super::checksums::totals::{self, Totals};
use super::super::database::{Ledger, to_json};
use super::super::error::{Error, corrupt};
use super::super::event::{Action, NewEvent};
use super::super::ids::{RunId, Seq};
use super::super::outcomes::{checksum, insert_outcomes, outcome_state};
use super::super::records::{
    AcceptedEarlier, Disposition, Outcome, PlannedRecord, Problem, RecordBlock, SourceBlock, SourceRow,
    bodies_checksum, encode, encode_records, erase_seen, source_checksum,
};
use super::super::runs::LockedRun;
use super::super::state::RecordState;

/// Blocks of rows loaded together.
const ROW_BLOCKS: u32 = 8;

/// What was erased of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub records: u64,
    pub rows: u64,
    /// Records that were still to be sent, and are skipped now.
    pub skipped: u64,
}

impl Ledger {
    /// Returns the records of a run whose key is `key`, or which update the record with this id.
    pub async fn records_of_key(&self, run: RunId, key: &str) -> Result<BTreeSet<Seq>, Error> {
        let mut found = BTreeSet::new();
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run, from).await? {
            from = block.end();
            let is_of_key =
                |record: &PlannedRecord| [&record.key, &record.target].into_iter().flatten().any(|name| name == key);
            found.extend(block.numbered().filter(|(_, record)| is_of_key(record)).map(|(seq, _)| seq));
        }
        Ok(found)
    }

    /// Whether one of the records may be in flight, or was when its process ended.
    pub async fn is_any_in_flight(&self, run: RunId, records: &BTreeSet<Seq>) -> Result<bool, Error> {
        let query = format!("SELECT COUNT(*) FROM in_flight WHERE run = $1 AND seq {}", self.dialect().is_in("$2"));
        let count: i64 = sql::query_scalar(query).bind(run).bind(to_json(records)?).fetch_one(&self.reader).await?;
        Ok(count > 0)
    }

    /// Erases what is stored about these records of a run, in one transaction. None of them may be in flight. `blank` returns the
    /// cells of an empty row, for a row and its former cells. Warnings of the file for which `is_quoting` holds are erased, too.
    pub async fn erase(
        &self,
        locked: &LockedRun,
        records: &BTreeSet<Seq>,
        blank: &mut (dyn FnMut(&SourceRow) -> Vec<u8> + Send),
        is_quoting: &(dyn Fn(&str) -> bool + Sync),
        now: i64,
    ) -> Result<Erased, Error> {
        let (run, id) = (locked.run(), locked.id());
        let mut erased = Erased { records: records.len() as u64, ..Erased::default() };
        let mut transaction = self.begin().await?;
        let (mut from, mut pending) = (0, Vec::new());
        while let Some(block) = self.record_block(id, from).await? {
            from = block.end();
            if records.range(block.first..from).next().is_none() {
                continue;
            }
            let settled = self.settled(id, block.first..=from - 1).await?;
            let is_pending = |seq: &Seq, record: &PlannedRecord| {
                records.contains(seq) && matches!(record.disposition, Disposition::Send(_)) && !settled.contains(seq)
            };
            pending.extend(block.numbered().filter(|(seq, record)| is_pending(seq, record)).map(|(seq, _)| seq));
            self.erase_records(&mut transaction, id, block, records).await?;
        }
        erase_seen(self, &mut transaction, id, records).await?;
        let (mut from, mut numbers) = (0, BTreeSet::new());
        loop {
            let blocks = self.source_blocks(id, from, ROW_BLOCKS).await?;
            let Some(last) = blocks.last() else { break };
            from = last.end();
            for mut block in blocks {
                let mut is_changed = false;
                for row in block.rows.iter_mut().filter(|row| records.contains(&row.seq)) {
                    row.cells = blank(row);
                    numbers.insert(row.number);
                    is_changed = true;
                }
                if is_changed {
                    write_rows(&mut transaction, id, &block).await?;
                }
            }
        }
        erased.rows = numbers.len() as u64;
        for seq in records {
            erase_outcome(&mut transaction, id, *seq).await?;
        }
        erased.skipped = pending.len() as u64;
        let outcomes: Vec<Outcome> = pending
            .into_iter()
            .map(|seq| Outcome { problems: vec![note()], ..Outcome::new(seq, RecordState::Skipped, now) })
            .collect();
        insert_outcomes(&mut transaction, id, &outcomes).await?;
        let edits = format!("DELETE FROM edit WHERE file_hash = $1 AND row_number {}", self.dialect().is_in("$2"));
        let edits = sql::query(edits).bind(&run.about.file_hash).bind(to_json(&numbers)?);
        edits.execute(&mut transaction).await?;
        // The profile has the lowest and highest values of each field.
        let warnings: Vec<&Problem> = run
            .warnings
            .iter()
            .filter(|warning| {
                !is_quoting(&warning.value) && !is_quoting(&warning.message) && !is_quoting(&warning.remedy)
            })
            .collect();
        let update = sql::query("UPDATE run SET profile = NULL, warnings = $2 WHERE id = $1").bind(id);
        seal::change(&mut transaction, id, update.bind(to_json(&warnings)?)).await?;
        let event = NewEvent::of(Action::Erased).counting(records.len() as i64);
        event.write(&mut transaction, id, now).await?;
        transaction.commit().await?;
        Ok(erased)
    }

    async fn erase_records(
        &self,
        transaction: &mut Transaction,
        run: RunId,
        block: RecordBlock,
        records: &BTreeSet<Seq>,
    ) -> Result<(), Error> {
        let Some(counts) = self.record_counts(run, block.first).await? else { return Ok(()) };
        let RecordBlock { first, records: planned } = block;
        let planned = (first..).zip(planned);
        let planned =
            planned.map(|(seq, record)| if records.contains(&seq) { without_content(record) } else { record });
        let encoded = encode_records(planned.collect())?;
        let update = "UPDATE record_block SET heads = $3, bodies = $4, checksum = $5, bodies_checksum = $6 \
                      WHERE run = $1 AND first = $2";
        sql::query(update)
            .bind(run)
            .bind(first)
            .bind(encoded.heads.clone())
            .bind(encoded.bodies.clone())
            .bind(counts.checksum(run, &encoded.heads))
            .bind(bodies_checksum(run, first, &encoded.bodies))
            .execute(transaction)
            .await?;
        Ok(())
    }
}

/// Returns the record with the same decision, so that the counts of its run stay.
fn without_content(record: PlannedRecord) -> PlannedRecord {
    let disposition = match record.disposition {
        Disposition::Send(_) => Disposition::Send("{}".into()),
        Disposition::Rejected(_) => Disposition::Rejected(vec![note()]),
        Disposition::Skipped(reason) => Disposition::Skipped(reason),
        Disposition::AcceptedEarlier(earlier) => {
            Disposition::AcceptedEarlier(AcceptedEarlier { service_id: None, ..earlier })
        }
    };
    PlannedRecord {
        key: None,
        // Whether a record is updated or created depends on it.
        target: record.target.map(|_| String::new()),
        warnings: if record.warnings.is_empty() { Vec::new() } else { vec![note()] },
        disposition,
        ..record
    }
}

/// What reports show of an erased record.
fn note() -> Problem {
    Problem::of_record(Code::Erased, "was erased from the ledger")
}

async fn write_rows(transaction: &mut Transaction, run: RunId, block: &SourceBlock) -> Result<(), Error> {
    let body = encode(&block.rows)?;
    let query = "SELECT sheet_rows FROM source_block WHERE run = $1 AND first = $2";
    let sheet_rows: i64 = sql::query_scalar(query).bind(run).bind(block.first).fetch_one(&mut *transaction).await?;
    let checksum = source_checksum(run, block.first, block.rows.len() as i64, sheet_rows, &body);
    let update = sql::query("UPDATE source_block SET body = $3, checksum = $4 WHERE run = $1 AND first = $2");
    update.bind(run).bind(block.first).bind(body).bind(checksum).execute(transaction).await?;
    Ok(())
}

/// Erases the words and ids of the service from an outcome, if there is one.
async fn erase_outcome(transaction: &mut Transaction, run: RunId, seq: Seq) -> Result<(), Error> {
    let query = "SELECT state, attempts, at, http_status, checksum FROM outcome WHERE run = $1 AND seq = $2";
    let Some(row) = sql::query(query).bind(run).bind(seq).fetch_optional(&mut *transaction).await? else {
        return Ok(());
    };
    let attempts: i64 = row.try_get(1)?;
    let status: Option<i64> = row.try_get(3)?;
    let outcome = Outcome {
        attempts: u32::try_from(attempts).map_err(corrupt)?,
        http_status: status.map(u16::try_from).transpose().map_err(corrupt)?,
        ..Outcome::new(seq, outcome_state(row.try_get(0)?)?, row.try_get(2)?)
    };
    let (old, new): (i64, i64) = (row.try_get(4)?, checksum(run, &outcome, None));
    let update = "UPDATE outcome SET service_status = NULL, service_id = NULL, ctx_id = NULL, job_id = NULL, problems = NULL, \
                  checksum = $3 WHERE run = $1 AND seq = $2";
    sql::query(update).bind(run).bind(seq).bind(new).execute(&mut *transaction).await?;
    totals::change(transaction, run, |totals: &mut Totals| totals.outcomes.checksums += new - old).await
}
