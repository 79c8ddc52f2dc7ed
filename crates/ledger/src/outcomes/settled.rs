//! Outcomes: a row per settled record, never changed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::Deserialize;
use sheetport_findings::Code;
use sheetport_sql::{self as sql, Builder, Dialect, Query, Row, Transaction, Value};

use super::super::checksums::Checksum;
use super::super::checksums::totals::{self, States, Sum, Totals};
use super::super::database::Ledger;
use super::super::error::{Error, corrupt, damaged};
use super::super::ids::{RunId, Seq};
use super::super::records::{BLOCK_LEN, Outcome, Problem, RecordBlock, block_of, selecting_block};
use super::super::state::RecordState;

/// Returns the query for the settled records in the range.
fn selecting_settled(run: RunId, range: RangeInclusive<Seq>) -> Query<Row> {
    let query = "SELECT seq FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3";
    sql::query(query).bind(run).bind(*range.start()).bind(*range.end())
}

impl Ledger {
    /// Returns the outcomes of these records. Records resolved by a person have the resolved state.
    pub async fn outcomes(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeMap<Seq, Outcome>, Error> {
        // A single value instead of rows, because the driver needs more time for each row than for the content.
        let columns = "outcome.seq, outcome.state, attempts, outcome.at, http_status, service_status, service_id, ctx_id, \
                       job_id, problems, outcome.checksum, resolution.state, resolution.who";
        let outcomes: String = sql::query_scalar(format!(
            "SELECT {} FROM outcome \
             LEFT JOIN resolution ON resolution.run = outcome.run AND resolution.seq = outcome.seq \
             WHERE outcome.run = $1 AND outcome.seq BETWEEN $2 AND $3",
            self.dialect().json_rows(columns)
        ))
        .bind(run)
        .bind(range.start())
        .bind(range.end())
        .fetch_one(&self.reader)
        .await?;
        let outcomes: Vec<StoredOutcome<'_>> = serde_json::from_str(&outcomes).map_err(corrupt)?;
        outcomes.into_iter().map(|stored| Ok((stored.0, stored.outcome(run)?))).collect()
    }

    /// Returns the block with the first record of the range, if any, with its records in the range that have an outcome.
    pub async fn block_with_settled(
        &self,
        run: RunId,
        range: RangeInclusive<Seq>,
    ) -> Result<Option<(RecordBlock, BTreeSet<Seq>)>, Error> {
        let first = *range.start();
        let last = (*range.end()).min(first.saturating_add(BLOCK_LEN as Seq - 1));
        let reads = vec![selecting_block(run, first), selecting_settled(run, first..=last)];
        let results = self.reader.run_all(reads).await?;
        let [block, settled] = results.as_slice() else { return Ok(None) };
        let Some(block) = block_of(run, first, block.rows().first())? else { return Ok(None) };
        let settled = settled.rows().iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        Ok(Some((block, settled)))
    }

    /// Returns the settled records in the range.
    pub async fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        let rows = selecting_settled(run, range).fetch_all(&self.reader).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }

    /// Returns the records in the range that were left out or rejected before any request, and before `begun`, and so will not be sent by this run. Those without
    /// a blank field to write are among them: the values that they have are not those of the run.
    pub(crate) async fn never_sent(
        &self,
        run: RunId,
        range: RangeInclusive<Seq>,
        begun: i64,
    ) -> Result<BTreeSet<Seq>, Error> {
        let query = "SELECT seq FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3 AND attempts = 0 AND at < $5 \
                     AND (state IN ('skipped', 'rejected') OR state = 'unchanged' AND problems LIKE $4)";
        let filled = format!("%\"code\":\"{}\"%", Code::Filled);
        let query = sql::query_scalar(query).bind(run).bind(range.start()).bind(range.end()).bind(filled).bind(begun);
        let seqs = query.fetch_all(&self.reader);
        Ok(seqs.await?.into_iter().collect())
    }

    /// Returns the first `limit` records refused by the service.
    pub async fn failed(&self, run: RunId, limit: u32) -> Result<Vec<Seq>, Error> {
        let query = "SELECT seq FROM (SELECT seq FROM outcome WHERE run = $1 AND state = 'failed' \
                     UNION ALL SELECT seq FROM resolution WHERE run = $1 AND state = 'failed') AS refused \
                     ORDER BY seq LIMIT $2";
        Ok(sql::query_scalar(query).bind(run).bind(i64::from(limit)).fetch_all(&self.reader).await?)
    }

    /// Adds outcomes in one transaction. Durable on return.
    ///
    /// # Errors
    /// [`Error::Database`] if a record already has an outcome. Nothing is added in this case.
    pub async fn settle(&self, run: RunId, outcomes: &[Outcome]) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        insert_outcomes(&mut transaction, run, outcomes).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Adds outcomes.
pub(crate) async fn insert_outcomes(
    transaction: &mut Transaction,
    run: RunId,
    outcomes: &[Outcome],
) -> Result<(), Error> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let (inserts, added) = inserting_outcomes(transaction.dialect(), run, outcomes)?;
    for insert in inserts {
        insert.execute(&mut *transaction).await?;
    }
    totals::change(transaction, run, |totals| added.add_to(totals)).await
}

/// What added outcomes change in the totals of their run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Added {
    outcomes: Sum,
    states: States,
}

impl Added {
    pub(crate) fn add_to(self, totals: &mut Totals) {
        totals.outcomes.rows += self.outcomes.rows;
        totals.outcomes.seqs += self.outcomes.seqs;
        totals.outcomes.checksums += self.outcomes.checksums;
        self.states.iter().for_each(|(state, count)| totals.states.add(state, count));
    }
}

/// Returns the statements that add outcomes, and what they change in the totals.
pub(crate) fn inserting_outcomes(
    dialect: Dialect,
    run: RunId,
    outcomes: &[Outcome],
) -> Result<(Vec<Query<Row>>, Added), Error> {
    let outcomes: Vec<Cow<'_, Outcome>> = outcomes.iter().map(storable).collect();
    let (mut inserts, mut added) = (Vec::new(), Added::default());
    for outcomes in outcomes.chunks(dialect.rows_per_statement()) {
        let problems: Vec<Option<String>> =
            outcomes.iter().map(|outcome| problems_json(outcome)).collect::<Result<_, Error>>()?;
        let mut query = Builder::new(
            dialect,
            "INSERT INTO outcome (run, seq, state, attempts, at, http_status, service_status, service_id, ctx_id, \
             job_id, problems, checksum) ",
        );
        query.push_rows(outcomes.iter().zip(problems).map(|(outcome, problems)| {
            let checksum = checksum(run, outcome, problems.as_deref());
            added.outcomes.add(outcome.seq, checksum);
            added.states.add(outcome.state, 1);
            [
                Value::from(run),
                outcome.seq.into(),
                outcome.state.name().into(),
                i64::from(outcome.attempts).into(),
                outcome.at.into(),
                outcome.http_status.map(i64::from).into(),
                (&outcome.service_status).into(),
                (&outcome.service_id).into(),
                (&outcome.ctx_id).into(),
                (&outcome.job_id).into(),
                problems.into(),
                checksum.into(),
            ]
        }));
        inserts.push(query.build_for(outcomes.len()));
    }
    Ok((inserts, added))
}

/// Returns the outcome without NUL characters. A service may send them, and PostgreSQL can't store them.
fn storable(outcome: &Outcome) -> Cow<'_, Outcome> {
    let texts = [&outcome.service_status, &outcome.service_id, &outcome.ctx_id, &outcome.job_id];
    if !texts.into_iter().flatten().any(|text| text.contains('\0')) {
        return Cow::Borrowed(outcome);
    }
    let Outcome { service_status, service_id, ctx_id, job_id, .. } = outcome.clone();
    let [service_status, service_id, ctx_id, job_id] =
        [service_status, service_id, ctx_id, job_id].map(|text| text.map(sql::storable));
    Cow::Owned(Outcome { service_status, service_id, ctx_id, job_id, ..outcome.clone() })
}

/// Returns the checksum of an outcome. `problems` is the JSON of the problems.
pub(crate) fn checksum(run: RunId, outcome: &Outcome, problems: Option<&str>) -> i64 {
    Checksum::of("outcome")
        .number(run)
        .number(outcome.seq)
        .text(outcome.state.name())
        .number(i64::from(outcome.attempts))
        .number(outcome.at)
        .optional_number(outcome.http_status.map(i64::from))
        .optional_text(outcome.service_status.as_deref())
        .optional_text(outcome.service_id.as_deref())
        .optional_text(outcome.ctx_id.as_deref())
        .optional_text(outcome.job_id.as_deref())
        .optional_text(problems)
        .short()
}

/// Parses the state of an outcome or resolution. Pending records have neither.
pub(crate) fn outcome_state(name: &str) -> Result<RecordState, Error> {
    let state = RecordState::from_name(name).filter(|state| *state != RecordState::Pending);
    state.ok_or_else(|| corrupt(format_args!("an outcome with the state '{name}'")))
}

/// Returns the problem shown for a record resolved by `who`.
fn resolution_problem(state: RecordState, who: &str) -> Problem {
    let was = if state == RecordState::Sent { "applied" } else { "not applied" };
    Problem::of_record(Code::Resolved, format!("{who} says that it was {was}"))
}

fn problems_json(outcome: &Outcome) -> Result<Option<String>, Error> {
    match outcome.problems.as_slice() {
        [] => Ok(None),
        problems => serde_json::to_string(problems).map(Some).map_err(corrupt),
    }
}

/// The values of an outcome in the order of the query.
#[derive(Deserialize)]
struct StoredOutcome<'j>(
    Seq,
    #[serde(borrow)] Cow<'j, str>,
    u32,
    i64,
    Option<u16>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    i64,
    Option<String>,
    Option<String>,
);

impl StoredOutcome<'_> {
    /// Returns the outcome. A decision by a person replaces the state.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the checksum of the row does not match.
    fn outcome(self, run: RunId) -> Result<Outcome, Error> {
        let StoredOutcome(
            seq,
            state,
            attempts,
            at,
            http_status,
            service_status,
            service_id,
            ctx_id,
            job_id,
            json,
            stored,
            resolved,
            who,
        ) = self;
        let state = outcome_state(&state)?;
        let problems = Vec::new();
        let mut outcome =
            Outcome { seq, state, attempts, at, http_status, service_status, service_id, ctx_id, job_id, problems };
        if checksum(run, &outcome, json.as_deref()) != stored {
            return Err(damaged(run, format_args!("the outcome of its record {seq} was altered")));
        }
        if let Some(json) = json {
            outcome.problems = serde_json::from_str(&json).map_err(corrupt)?;
        }
        if let Some(resolved) = resolved {
            outcome.state = outcome_state(&resolved)?;
            outcome.problems.extend(who.map(|who| resolution_problem(outcome.state, &who)));
        }
        Ok(outcome)
    }
}
