//! The approval of a plan: what a person takes away from it before it is sent. What a look at the service changes of it is stored likewise.

use std::collections::BTreeMap;

use sheetport_sql::{self as sql, Transaction};

use super::super::checksums::{seal, totals};
use super::super::database::Ledger;
use super::super::error::{Error, corrupt};
use super::super::event::{Action, NewEvent};
use super::super::ids::{RunId, Seq};
use super::super::outcomes::insert_outcomes;
use super::super::records::{
    Disposition, Outcome, Problem, RecordBlock, RecordCounts, bodies_checksum, encode_bodies, encode_records,
};
use super::lock::LockedRun;

impl Ledger {
    /// Stores the approval of a plan in one transaction: the outcomes of the records that are left out, the requests with fewer fields, and
    /// that `approved` records were approved. Nothing of the run may have been sent.
    pub async fn approve(
        &self,
        locked: &LockedRun,
        left_out: &[Outcome],
        bodies: &BTreeMap<Seq, Box<str>>,
        approved: u64,
        now: i64,
    ) -> Result<(), Error> {
        let run = locked.id();
        let mut transaction = self.begin().await?;
        self.take_away_in(&mut transaction, run, left_out, bodies, &BTreeMap::new()).await?;
        let update = sql::query("UPDATE run SET approved_at = $2 WHERE id = $1").bind(run).bind(now);
        seal::change(&mut transaction, run, update).await?;
        let event = NewEvent::of(Action::Approved).counting(approved.cast_signed());
        event.write(&mut transaction, run, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Stores in one transaction what a look at the service has shown of a run before its records are sent: which of them are left out, the
    /// requests with other fields, and further warnings about these. This process must have the lock of the run, and none of these records may
    /// have been sent.
    pub async fn take_away(
        &self,
        run: RunId,
        left_out: &[Outcome],
        bodies: &BTreeMap<Seq, Box<str>>,
        warnings: &BTreeMap<Seq, Problem>,
    ) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        self.take_away_in(&mut transaction, run, left_out, bodies, warnings).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn take_away_in(
        &self,
        transaction: &mut Transaction,
        run: RunId,
        left_out: &[Outcome],
        bodies: &BTreeMap<Seq, Box<str>>,
        warnings: &BTreeMap<Seq, Problem>,
    ) -> Result<(), Error> {
        insert_outcomes(transaction, run, left_out).await?;
        let mut rest = bodies.range(Seq::MIN..);
        while let Some((seq, _)) = rest.next() {
            let missing = || corrupt(format_args!("run {run} has no request for the record {seq}"));
            let block = self.record_block_of(run, *seq).await?.ok_or_else(missing)?;
            rest = bodies.range(block.end()..);
            match warnings.range(block.first..block.end()).next() {
                Some(_) => replace_records(transaction, run, block, bodies, warnings).await?,
                None => replace_bodies(transaction, run, block, bodies).await?,
            }
        }
        Ok(())
    }

    /// Whether a request of a run may have been sent.
    pub async fn is_begun(&self, run: RunId) -> Result<bool, Error> {
        let totals = totals::load(&self.reader, run).await?;
        let query = "SELECT COUNT(*) FROM intent WHERE run = $1";
        let intents: i64 = sql::query_scalar(query).bind(run).fetch_one(&self.reader).await?;
        Ok(totals.requests > 0 || totals.in_flight.rows > 0 || totals.claims > 0 || intents > 0)
    }
}

/// Writes the requests of a block anew, with some of them replaced.
async fn replace_bodies(
    transaction: &mut Transaction,
    run: RunId,
    block: RecordBlock,
    replaced: &BTreeMap<Seq, Box<str>>,
) -> Result<(), Error> {
    let first = block.first;
    let bodies = (first..).zip(block.records).filter_map(|(seq, record)| match record.disposition {
        Disposition::Send(body) => Some(replaced.get(&seq).cloned().unwrap_or(body)),
        _ => None,
    });
    let encoded = encode_bodies(bodies.collect())?;
    let checksum = bodies_checksum(run, first, &encoded);
    let update = "UPDATE record_block SET bodies = $3, bodies_checksum = $4 WHERE run = $1 AND first = $2";
    sql::query(update).bind(run).bind(first).bind(encoded).bind(checksum).execute(transaction).await?;
    Ok(())
}

/// Writes a block anew, with some of its requests replaced, and with further warnings about records that are to be sent.
async fn replace_records(
    transaction: &mut Transaction,
    run: RunId,
    block: RecordBlock,
    replaced: &BTreeMap<Seq, Box<str>>,
    warnings: &BTreeMap<Seq, Problem>,
) -> Result<(), Error> {
    let RecordBlock { first, mut records } = block;
    let warned_before = RecordCounts::of(first, &records).warned;
    for (seq, record) in (first..).zip(&mut records) {
        let Disposition::Send(body) = &mut record.disposition else { continue };
        if let Some(replacement) = replaced.get(&seq) {
            body.clone_from(replacement);
        }
        record.warnings.extend(warnings.get(&seq).cloned());
    }
    let counts = RecordCounts::of(first, &records);
    let encoded = encode_records(records)?;
    let update = "UPDATE record_block SET warned = $3, heads = $4, checksum = $5, bodies = $6, bodies_checksum = $7 \
                  WHERE run = $1 AND first = $2";
    sql::query(update)
        .bind(run)
        .bind(first)
        .bind(counts.warned)
        .bind(encoded.heads.clone())
        .bind(counts.checksum(run, &encoded.heads))
        .bind(encoded.bodies.clone())
        .bind(bodies_checksum(run, first, &encoded.bodies))
        .execute(&mut *transaction)
        .await?;
    let update = sql::query("UPDATE run SET warned = warned + $2 WHERE id = $1").bind(run);
    seal::change(transaction, run, update.bind(counts.warned - warned_before)).await?;
    Ok(())
}
