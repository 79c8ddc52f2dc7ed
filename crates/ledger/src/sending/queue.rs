//! Queued runs: planned by one process, and sent in parts by workers on any machine.
//!
//! In SQLite, a run is not divided: one worker at a time holds the lock of its upload.
//!
//! A sender works on a [`Part`]: all records of a locked run, or a leased part of a queued run. Data stored
//! per sender, such as records in flight and the handshake with newer uploads, is selected by the records of the part. Only the counts of
//! the run (`total`) are shared by the workers: every transaction locks these counts before anything else shared, so
//! transactions wait for each other there. Records whose key occurs in several parts are linked when the run is queued, and wait for the
//! preceding record.

use std::collections::BTreeMap;
use std::time::Duration;

use sheetport_sql::{self as sql, Builder, Dialect, Query, Results, Row, Transaction, Value};

use super::super::checksums::seal;
use super::super::database::{Ledger, to_json};
use super::super::error::Error;
use super::super::event::{Action, NewEvent};
use super::super::history::accepted::hash;
use super::super::ids::{Part, RunId, Seq};
use super::super::locks::{Checked, Lease, is_broken};
use super::super::outcomes::{accounting_in, accounting_of, accounting_queries};
use super::super::records::Disposition;
use super::super::runs::{LockedRun, Run};
use super::super::state::RunState;

/// Approximate number of parts per run, subject to the limits on their length.
const PARTS: i64 = 64;
/// Shortest and longest parts, in records.
const PART_LEN: (i64, i64) = (64, 4_096);
/// Blocks loaded together.
const BLOCKS: u32 = 16;
/// Time until which the sending of a run has been counted, or when it began. A subquery, so from before a change of the same statement.
const COUNTED: &str = "(SELECT COALESCE(MAX(counted_at), MIN(taken_at)) FROM part WHERE run = $1)";
/// Time for looking whether a run is still queued.
const ANSWER: Duration = Duration::from_secs(10);

/// A part of a queued run, reserved for this process. Released on drop.
#[derive(Debug)]
pub struct TakenPart {
    pub run: Run,
    pub part: Part,
    lock: Lock,
}

#[derive(Debug)]
enum Lock {
    Run { _run: Box<LockedRun> },
    Part(Box<Lease>),
}

impl Ledger {
    /// Hands the pending records of a run to workers. Durable on return.
    pub async fn enqueue(&self, locked: &LockedRun, now: i64) -> Result<(), Error> {
        let run = self.run(locked.id()).await?;
        let update = "UPDATE run SET state = $2, queued_at = $3, stopped_why = NULL, finished_at = NULL WHERE id = $1";
        let update = sql::query(update).bind(run.id).bind(RunState::Queued.name()).bind(now);
        let records = run.planned.records;
        let len = (records / PARTS).clamp(PART_LEN.0, PART_LEN.1);
        let divides = self.dialect() == Dialect::Postgres;
        let chain = if divides { self.chain(&run, len).await? } else { BTreeMap::new() };
        let mut transaction = self.begin().await?;
        if divides {
            for table in ["part", "chain", "turn"] {
                let clear = format!("DELETE FROM {table} WHERE run = $1");
                sql::query(clear).bind(run.id).execute(&mut transaction).await?;
            }
            let parts = "INSERT INTO part (run, first, last, identity) SELECT $1, first, LEAST(first + $2, $3) - 1, $4 \
                         FROM generate_series(0, $3 - 1, $2) AS first";
            let parts = sql::query(parts).bind(run.id).bind(len).bind(records).bind(locked.identity());
            parts.execute(&mut transaction).await?;
            let links: Vec<(Seq, Seq)> = chain.into_iter().collect();
            for links in links.chunks(self.dialect().rows_per_statement()) {
                let mut insert = Builder::new(self.dialect(), "INSERT INTO chain (run, seq, after) ");
                let row = |(seq, after): &(Seq, Seq)| [Value::from(run.id), (*seq).into(), (*after).into()];
                insert.push_rows(links.iter().map(row));
                insert.build_for(links.len()).execute(&mut transaction).await?;
            }
        }
        seal::change(&mut transaction, run.id, update).await?;
        NewEvent::of(Action::Queued).write(&mut transaction, run.id, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Waits until the parts that this process has given back are free again.
    pub async fn parts_given_back(&self) {
        self.leases.released().await;
    }

    /// Takes a part of a queued run. Returns `None` if no part is left, or if another process works on the upload.
    pub async fn take_part(&self, run: RunId, now: i64) -> Result<Option<TakenPart>, Error> {
        if self.dialect() == Dialect::Sqlite {
            let locked = match self.lock_checked_run(run).await {
                Ok(locked) => locked,
                Err(Error::Busy { .. } | Error::NoSuchRun(_)) => return Ok(None),
                Err(error) => return Err(error),
            };
            let run = locked.run().clone();
            if run.state != RunState::Queued {
                return Ok(None);
            }
            let mut transaction = self.begin().await?;
            NewEvent::of(Action::Worked).counting(1).write(&mut transaction, run.id, now).await?;
            transaction.commit().await?;
            let part = Part::whole(run.id);
            return Ok(Some(TakenPart { run, part, lock: Lock::Run { _run: Box::new(locked) } }));
        }
        // As last read: it is read again below.
        let identity = match self.leases.identity_of(run) {
            Some(identity) => identity,
            None => self.family_identity(run).await?,
        };
        let taken = loop {
            match self.leases.take_part(&self.writer, &identity, run, now).await {
                Err(Error::Moved) if self.settle_in().await? => {}
                Err(Error::Moved) => return Ok(None),
                taken => break taken?,
            }
        };
        let Some((part, lease)) = taken else { return Ok(None) };
        let run = self.run_to_take(run).await?;
        // The first run of the family may have been removed before the lease was taken.
        if self.leases.identity_of(run.id).as_ref() != Some(&identity) {
            return Ok(None);
        }
        let lock = Lock::Part(Box::new(lease));
        Ok(Some(TakenPart { run, part, lock }))
    }

    /// Stores that no record of a part is pending any more. Returns whether this finishes the run. `millis`: how long the part was
    /// sent. The parts of a divided run are sent at the same time, so the time since the first of them was taken counts instead.
    pub async fn finish_part(&self, taken: TakenPart, millis: i64, now: i64) -> Result<bool, Error> {
        let TakenPart { run: of_run, part, lock } = taken;
        let run = of_run.id;
        let Lock::Part(lease) = lock else {
            let pending = self.accounting(run).await?.pending;
            self.end_sending(run, pending, None, millis, now).await?;
            return Ok(pending == 0);
        };
        let done = "UPDATE part SET is_done = TRUE, counted_at = $3 WHERE run = $1 AND first = $2";
        let done = sql::query(format!("{done} RETURNING {COUNTED}")).bind(run).bind(part.first).bind(now);
        let open = sql::query("SELECT COUNT(*) FROM part WHERE run = $1 AND NOT is_done").bind(run);
        let mut statements = vec![done, open, seal::selecting(self.dialect(), run)];
        let fixed = statements.len();
        let is_only_part = part.first == 0 && part.last + 1 >= of_run.planned.records;
        if is_only_part {
            statements.extend(accounting_queries(run));
        }
        let (mut transaction, results) = self.begin_giving_back(&lease, statements).await?;
        let row =
            |nth: usize| results.get(nth).and_then(|result| result.rows().first()).ok_or(sqlx::Error::RowNotFound);
        let (counted, open): (Option<i64>, i64) = (row(0)?.try_get(0)?, row(1)?.try_get(0)?);
        seal::refuse_altered(run, row(2)?)?;
        let millis = since(counted, now);
        // By this transaction, because another connection may have to wait for it.
        let pending = match open {
            0 if is_only_part => accounting_of(run, &results[fixed..])?.pending,
            0 => accounting_in(&mut transaction, run).await?.pending,
            _ => 0,
        };
        let is_finished = open == 0 && pending == 0;
        let (update, ended) = match (open, pending) {
            (0, 0) => {
                let finish = "UPDATE run SET millis = millis + $2, state = $3, finished_at = $4, stopped_why = NULL WHERE id = $1";
                let finish = sql::query(finish).bind(run).bind(millis).bind(RunState::Finished.name()).bind(now);
                (finish, Some((Action::Finished, None)))
            }
            (0, _) => {
                let stop = "UPDATE run SET millis = millis + $2, state = $3, stopped_why = $4 WHERE id = $1";
                let why = format!("{pending} of its records are pending in parts that were done");
                let stop = sql::query(stop).bind(run).bind(millis).bind(RunState::Planned.name()).bind(why.clone());
                (stop, Some((Action::Stopped, Some(why))))
            }
            _ => (sql::query("UPDATE run SET millis = millis + $2 WHERE id = $1").bind(run).bind(millis), None),
        };
        let mut last: Vec<Query<Row>> = seal::changing(&mut transaction, run, update).await?.into_iter().collect();
        if let Some((action, why)) = ended {
            last.extend(NewEvent::of(action).because(why.as_deref()).writing(run, now));
        }
        transaction.commit_after(last).await?;
        lease.forget();
        Ok(is_finished)
    }

    /// Begins a transaction that gives a lease back, with these statements. Returns it with their results.
    async fn begin_giving_back(
        &self,
        lease: &Lease,
        statements: Vec<Query<Row>>,
    ) -> Result<(Transaction, Vec<Results>), Error> {
        // The last two workers of a run see each other's parts.
        let wait = lease.waiting_for_others();
        if let Some(fence) = self.leases.fence() {
            let mut transaction = self.begin_writing().await?;
            let first = [wait.clone(), fence, lease.releasing()].join("; ");
            match transaction.run_all_after(first, statements.clone()).await {
                Ok((_, results)) => return Ok((transaction, results)),
                // The longer way tells why.
                Err(error) if is_broken(&error) => transaction.rollback().await?,
                Err(error) => return Err(error.into()),
            }
        }
        loop {
            let mut transaction = self.begin_writing().await?;
            transaction.raw_row(wait.clone()).await?;
            if self.leases.check(&mut transaction).await? != Checked::Moved {
                let (_, results) = transaction.run_all_after(lease.releasing(), statements).await?;
                return Ok((transaction, results));
            }
            transaction.rollback().await?;
            self.settle_in().await?;
        }
    }

    /// Takes a run out of the queue. Workers stop sending within seconds. Returns false if the run was not queued. `by`: the person
    /// who stops the run, `None` for this process.
    pub async fn stop_queued(&self, run: RunId, by: Option<&str>, why: &str, now: i64) -> Result<bool, Error> {
        let mut transaction = self.begin().await?;
        let mut millis = 0;
        if self.dialect() == Dialect::Postgres {
            let count = format!("UPDATE part SET counted_at = $2 WHERE run = $1 AND first = 0 RETURNING {COUNTED}");
            let counted = sql::query_scalar::<Option<i64>>(count).bind(run).bind(now);
            millis = since(counted.fetch_optional(&mut transaction).await?.flatten(), now);
        }
        let update = "UPDATE run SET state = 'planned', stopped_why = $2, millis = millis + $3 \
                      WHERE id = $1 AND state = 'queued'";
        let update = sql::query(update).bind(run).bind(why.to_owned()).bind(millis);
        let event = match by {
            Some(who) => NewEvent::of(Action::Stopped).by(who),
            None => NewEvent::of(Action::Stopped).because(Some(why)),
        };
        let changed = seal::change_with(&mut transaction, run, update, event, now).await?;
        match changed {
            true => transaction.commit().await?,
            // The time must not be counted.
            false => transaction.rollback().await?,
        }
        Ok(changed)
    }

    /// Whether workers may send a run.
    pub async fn is_queued(&self, run: RunId) -> Result<bool, Error> {
        if self.dialect() == Dialect::Postgres {
            // Asked every second for each part, so without a transaction of its own.
            let query = format!("SELECT 1 FROM run WHERE id = {run} AND state = 'queued'");
            return Ok(self.reader.raw_row(ANSWER, query).await?.is_some());
        }
        let query = "SELECT EXISTS (SELECT 1 FROM run WHERE id = $1 AND state = 'queued')";
        Ok(sql::query_scalar::<bool>(query).bind(run).fetch_one(&self.reader).await?)
    }

    /// Returns the number of records refused or set to unknown since the run was queued, and of these the unknown ones.
    pub async fn failed_in_queue(&self, run: &Run) -> Result<(u64, u64), Error> {
        let query = "SELECT COUNT(*), COUNT(CASE WHEN state = 'unknown' THEN 1 END) FROM outcome \
                     WHERE run = $1 AND at >= $2 AND state IN ('failed', 'unknown')";
        let counts = sql::query_as(query).bind(run.id).bind(run.queued_at.unwrap_or(0));
        let (failed, unknown): (i64, i64) = counts.fetch_one(&self.reader).await?;
        Ok((failed.cast_unsigned(), unknown.cast_unsigned()))
    }

    /// Returns the records of a part that must wait for an earlier record with the same key in another part.
    pub async fn chained(&self, part: Part) -> Result<BTreeMap<Seq, Seq>, Error> {
        if self.dialect() == Dialect::Sqlite {
            return Ok(BTreeMap::new());
        }
        let query = "SELECT seq, after FROM chain WHERE run = $1 AND seq BETWEEN $2 AND $3";
        let query = sql::query_as(query).bind(part.run).bind(part.first).bind(part.last);
        let links: Vec<(Seq, Seq)> = query.fetch_all(&self.reader).await?;
        Ok(links.into_iter().collect())
    }

    /// Returns the records in `seqs` that have an outcome.
    pub async fn settled_among(&self, run: RunId, seqs: &[Seq]) -> Result<Vec<Seq>, Error> {
        let query = format!("SELECT seq FROM outcome WHERE run = $1 AND seq {}", self.dialect().is_in("$2"));
        Ok(sql::query_scalar(query).bind(run).bind(to_json(seqs)?).fetch_all(&self.reader).await?)
    }

    /// Links each record to the previous record with the same key, if the key occurs in several parts of `len` records. A million
    /// records need 16 MB.
    async fn chain(&self, run: &Run, len: i64) -> Result<BTreeMap<Seq, Seq>, Error> {
        let mut keys: Vec<(i64, Seq)> = Vec::new();
        let mut from: Seq = 0;
        while let Some(block) = self.records_without_bodies(run.id, from, BLOCKS).await?.filter(|it| it.end() > from) {
            from = block.end();
            let sent = block.numbered().filter(|(_, record)| matches!(record.disposition, Disposition::Send(())));
            keys.extend(sent.filter_map(|(seq, record)| Some((hash(&[record.identity()?]), seq))));
        }
        keys.sort_unstable();
        let mut links = BTreeMap::new();
        for same in keys.chunk_by(|one, other| one.0 == other.0) {
            let (Some((_, first)), Some((_, last))) = (same.first(), same.last()) else { continue };
            if first / len != last / len {
                links.extend(same.windows(2).map(|pair| (pair[1].1, pair[0].1)));
            }
        }
        Ok(links)
    }
}

/// Returns the time since `counted`, in milliseconds. The clocks of the workers may differ.
fn since(counted: Option<i64>, now: i64) -> i64 {
    counted.map_or(0, |counted| now.saturating_sub(counted).max(0))
}
