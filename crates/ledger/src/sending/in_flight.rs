//! Records of non-idempotent calls: stored as in flight before sending, and as unknown if no result follows, unless the service
//! remembers the idempotency keys of their requests.
//!
//! `in_flight` contains exactly the records of non-idempotent calls that may be in flight. Each is stored before the first byte of the
//! request is sent, and a resume marks the remaining records as *unknown*. With an idempotency key, a record stays from the first attempt that
//! may have been applied until its outcome, and a resume repeats the request with the same key, derived from the run and the record, as
//! long as the service certainly remembers the key. Idempotent calls have ranges in `intent` instead, and are simply sent again.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use sheetport_findings::Code;
use sheetport_sql::{self as sql, Dialect, Query, Results, Row};

use super::super::checksums::Checksum;
use super::super::checksums::totals::{self, Totals};
use super::super::database::{Ledger, Reach, Write, to_json};
use super::super::error::Error;
use super::super::history::{
    Claim, Counted, Decision, EarlierClaim, Fact, Policy, counted, counting_claims, decide, found_earlier,
    inserting_claims, looking_for_earlier, waiting_for_claims,
};
use super::super::ids::{Part, RunId, Seq};
use super::super::outcomes::{Added, insert_outcomes, inserting_outcomes};
use super::super::records::{Outcome, Problem};
use super::super::runs::Run;

/// Selects the records in flight of a part.
pub(super) const IN_FLIGHT: &str =
    "SELECT seq, at, has_key, checksum FROM in_flight WHERE run = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq";

/// Changes made while sending, committed together.
#[derive(Debug, Default)]
pub struct SendingChanges {
    pub outcomes: Vec<Outcome>,
    /// Records no longer in flight, with an outcome or certainly not applied.
    pub finished: Vec<Seq>,
    /// Requests made since the last changes; negative if fewer were made than stored before.
    pub requests: i64,
    /// Requests that repeat an earlier request for the same record.
    pub retries: i64,
}

/// The rows written before the first byte of non-idempotent requests.
struct Starting<'a> {
    run: &'a Run,
    family: &'a [RunId],
    changes: &'a SendingChanges,
    claims: &'a [Claim],
    has_keys: bool,
    now: i64,
}

/// The records left in flight by the last process that sent a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interrupted {
    /// Number of records set to unknown.
    pub unknown: u64,
    /// Records that may be sent again with the same idempotency key, each with the time before its first attempt.
    pub repeatable: BTreeMap<Seq, i64>,
}

impl Ledger {
    /// Stores the intent to send these records by idempotent calls. Durable on return.
    pub async fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        let insert =
            "INSERT INTO intent (run, first, last, at) VALUES ($1, $2, $3, $4) ON CONFLICT (run, first, at) DO NOTHING";
        let insert = sql::query(insert).bind(run).bind(first).bind(last).bind(now);
        self.write_and_read(vec![insert], Vec::new()).await?;
        Ok(())
    }

    /// Replaces the intents of `part` since `since`: only the records `sent` may have been sent without an outcome.
    pub async fn reduce_intents(&self, part: Part, since: i64, sent: &[Seq], now: i64) -> Result<(), Error> {
        let remove = "DELETE FROM intent WHERE run = $1 AND at >= $2 AND first BETWEEN $3 AND $4";
        let remove = sql::query(remove).bind(part.run).bind(since).bind(part.first).bind(part.last);
        let add = format!(
            "INSERT INTO intent (run, first, last, at) SELECT $1, value, value, $3 FROM {} \
             WHERE true ON CONFLICT (run, first, at) DO NOTHING",
            self.dialect().numbers("$2")
        );
        let add = sql::query(add).bind(part.run).bind(to_json(sent)?).bind(now);
        self.write_and_read(vec![remove, add], Vec::new()).await?;
        Ok(())
    }

    /// Stores all changes in one transaction. Durable on return. Repeated over a new connection if the connection is lost while
    /// this process holds its lease.
    pub async fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        let mut write = self.new_write();
        loop {
            match self.try_store(&write, run, changes).await {
                Err(error) => self.before_next_write(error, &mut write).await?,
                stored => return stored,
            }
        }
    }

    async fn try_store(&self, write: &Write, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        let (mut writing, statements) = Writing::of(self.dialect(), run, changes)?;
        let Some((transaction, results)) = self.begin_write(write, statements).await? else { return Ok(()) };
        let totals = writing.totals(run, &results)?;
        self.commit_write(transaction, totals.map(|totals| totals::storing(run, &totals)).into_iter().collect(), write)
            .await
    }

    /// Stores all changes, claims the records `started` and stores them as in flight, in one transaction. Durable on return.
    /// Records that another run has claimed since `run` was compared with earlier runs are neither claimed nor stored, but
    /// returned with the other claim. `has_keys`: the requests have idempotency keys. Retries like [`Ledger::store`].
    pub async fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        has_keys: bool,
        now: i64,
    ) -> Result<Vec<(Seq, EarlierClaim)>, Error> {
        let (mut write, mut repeated) = (self.new_write(), Vec::new());
        let starting = Starting { run, family, changes, claims: started, has_keys, now };
        loop {
            match self.try_start(&write, &starting, &mut repeated).await {
                Err(error) => self.before_next_write(error, &mut write).await?,
                Ok(()) => return Ok(repeated),
            }
        }
    }

    /// Sets `repeated` before the commit, so that the caller has it even if the reply to the commit is lost.
    async fn try_start(
        &self,
        write: &Write,
        starting: &Starting<'_>,
        repeated: &mut Vec<(Seq, EarlierClaim)>,
    ) -> Result<(), Error> {
        let Starting { run, family, changes, claims: started, has_keys, now } = *starting;
        let dialect = self.dialect();
        // Locked before claims, always in this order, so that two workers of a run never deadlock.
        let (mut writing, mut statements) = Writing::of(dialect, run.id, changes)?;
        statements.extend(waiting_for_claims(dialect, run));
        let earlier = statements.len();
        statements.extend(looking_for_earlier(dialect, started, run.compared_to.unwrap_or(0)));
        let counting = statements.len();
        statements.extend(counting_claims(dialect, run.id, started)?);
        let Some((mut transaction, results)) = self.begin_write(write, statements).await? else { return Ok(()) };
        let totals = writing.totals(run.id, &results)?;
        let rows = results[earlier..counting].iter().flat_map(Results::rows);
        let earlier = found_earlier(&mut transaction, rows).await?;
        let is_repeated = |claim: &Claim| {
            let holds_back = |other: &&EarlierClaim| {
                claim.shown_by(other, run.id, family).is_some_and(|fact| Policy::default().heeds(fact))
            };
            earlier.iter().find(holds_back).map(|other| (claim.seq, other.clone()))
        };
        *repeated = started.iter().filter_map(is_repeated).collect();
        let is_new = |claim: &&Claim| repeated.iter().all(|(seq, _)| *seq != claim.seq);
        let started: Vec<Claim> = started.iter().filter(is_new).cloned().collect();
        let Counted { ids, known } = counted(&results[counting..])?;
        let inserting = inserting_claims(dialect, run.id, &started, ids, now);
        let mut last = inserting.inserts;
        let seqs: Vec<Seq> = started.iter().map(|claim| claim.seq).collect();
        let rows: Vec<(Seq, i64)> = seqs.iter().map(|seq| (*seq, checksum(run.id, *seq, now, has_keys))).collect();
        let insert = format!(
            "INSERT INTO in_flight (run, seq, at, has_key, checksum) SELECT $1, one, $3, $4, other FROM {}",
            dialect.pairs("$2")
        );
        last.push(sql::query(insert).bind(run.id).bind(to_json(&rows)?).bind(now).bind(i64::from(has_keys)));
        let mut totals = totals.unwrap_or(writing.before);
        seqs.iter().for_each(|seq| totals.in_flight.add(*seq, 0));
        totals.claims += seqs.iter().filter(|seq| !known.contains(seq)).count() as i64;
        last.push(totals::storing(run.id, &totals));
        self.commit_write(transaction, last, write).await?;
        if let Some(claim) = inserting.last {
            self.note_reach(Reach { run: run.id, claim }).await;
        }
        Ok(())
    }

    /// Sets the records in flight to *unknown*, unless the service remembers their idempotency keys, that is, if they were first
    /// sent within `remembered`. Requires the lock of the part.
    pub async fn settle_in_flight(
        &self,
        part: Part,
        remembered: Option<RangeInclusive<i64>>,
    ) -> Result<Interrupted, Error> {
        let run = part.run;
        self.leases.set_sending(run);
        let mut transaction = self.begin().await?;
        let rows: Vec<(Seq, i64, i64, i64)> =
            sql::query_as(IN_FLIGHT).bind(run).bind(part.first).bind(part.last).fetch_all(&mut transaction).await?;
        let (mut outcomes, mut repeatable) = (Vec::with_capacity(rows.len()), BTreeMap::new());
        for (seq, at, has_key, stored) in rows {
            let has_key = has_key != 0 && stored == checksum(run, seq, at, true);
            let is_remembered = has_key && remembered.as_ref().is_some_and(|times| times.contains(&at));
            let fact = if is_remembered { Fact::RepeatableByKey } else { Fact::Interrupted };
            let decision = decide(0, &fact.into(), Policy::default());
            if decision == Decision::Send {
                repeatable.insert(seq, at);
                continue;
            }
            let why = match (has_key, &remembered) {
                (true, Some(_)) => ", and the service may have forgotten its idempotency key since",
                (true, None) => ", and nothing says that the service honours its idempotency key",
                (false, _) => "",
            };
            let message =
                format!("sheetport ended or could not use the ledger any more before the answer was stored{why}");
            let problem = Problem::of_record(Code::Service, message);
            let outcome = Outcome::new(seq, decision.state(), at);
            outcomes.push(Outcome { problems: vec![problem], attempts: 1, ..outcome });
        }
        insert_outcomes(&mut transaction, run, &outcomes).await?;
        let unknown: Vec<Seq> = outcomes.iter().map(|outcome| outcome.seq).collect();
        sql::query(format!("DELETE FROM in_flight WHERE run = $1 AND seq {}", self.dialect().is_in("$2")))
            .bind(run)
            .bind(to_json(&unknown)?)
            .execute(&mut transaction)
            .await?;
        let remove = |totals: &mut Totals| unknown.iter().for_each(|seq| totals.in_flight.remove(*seq));
        totals::change(&mut transaction, run, remove).await?;
        transaction.commit().await?;
        Ok(Interrupted { unknown: unknown.len() as u64, repeatable })
    }
}

/// Returns the checksum of a record in flight: an altered time must not let a forgotten key be used.
fn checksum(run: RunId, seq: Seq, at: i64, has_key: bool) -> i64 {
    Checksum::of("in_flight").number(run).number(seq).number(at).number(i64::from(has_key)).short()
}

/// The changes of sending as statements of a transaction.
struct Writing<'a> {
    changes: &'a SendingChanges,
    added: Added,
    /// The position of the statement that removes the records no longer in flight, if any.
    removed: Option<usize>,
    /// The totals before the changes.
    before: Totals,
}

impl<'a> Writing<'a> {
    /// Returns the changes, and the statements for them. The first one locks the totals.
    fn of(dialect: Dialect, run: RunId, changes: &'a SendingChanges) -> Result<(Writing<'a>, Vec<Query<Row>>), Error> {
        let mut statements = vec![totals::locking(dialect, run)];
        let (inserts, added) = inserting_outcomes(dialect, run, &changes.outcomes)?;
        statements.extend(inserts);
        let mut removed = None;
        if !changes.finished.is_empty() {
            removed = Some(statements.len());
            let delete = format!("DELETE FROM in_flight WHERE run = $1 AND seq {} RETURNING seq", dialect.is_in("$2"));
            statements.push(sql::query(delete).bind(run).bind(to_json(&changes.finished)?));
        }
        Ok((Writing { changes, added, removed, before: Totals::default() }, statements))
    }

    /// Returns the totals after the changes, by the results of the statements. `None` if they are the same as before.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the totals are missing or altered.
    fn totals(&mut self, run: RunId, results: &[Results]) -> Result<Option<Totals>, Error> {
        self.before = totals::of_row(run, results.first().and_then(|result| result.rows().first()))?;
        let mut totals = self.before;
        self.added.add_to(&mut totals);
        let removed = self.removed.and_then(|nth| results.get(nth)).into_iter().flat_map(Results::rows);
        for row in removed {
            totals.in_flight.remove(row.try_get(0)?);
        }
        totals.requests += self.changes.requests;
        totals.retries += self.changes.retries;
        Ok((totals != self.before).then_some(totals))
    }
}
