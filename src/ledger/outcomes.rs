//! Outcomes: a row per settled record, never changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};

use super::database::Ledger;
use super::error::{Error, corrupt};
use super::ids::{RunId, Seq};
use super::model::{Outcome, Problem};
use super::state::RecordState;

/// Outcomes per INSERT statement.
const ROWS_PER_INSERT: usize = 64;

impl Ledger {
    /// Returns the outcomes of these records. Records resolved by a person have the resolved state.
    pub async fn outcomes(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeMap<Seq, Outcome>, Error> {
        let rows = sqlx::query(
            "SELECT outcome.seq, COALESCE(resolution.state, outcome.state), attempts, outcome.at, http_status, \
             service_status, service_id, ctx_id, job_id, problems, resolution.who \
             FROM outcome LEFT JOIN resolution ON resolution.run = outcome.run AND resolution.seq = outcome.seq \
             WHERE outcome.run = $1 AND outcome.seq BETWEEN $2 AND $3",
        )
        .bind(run)
        .bind(range.start())
        .bind(range.end())
        .fetch_all(&self.reader)
        .await?;
        rows.iter().map(|row| from_row(row).map(|outcome| (outcome.seq, outcome))).collect()
    }

    /// Returns the settled records in the range.
    pub async fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        let seqs = sqlx::query_scalar("SELECT seq FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3")
            .bind(run)
            .bind(range.start())
            .bind(range.end())
            .fetch_all(&self.reader)
            .await?;
        Ok(seqs.into_iter().collect())
    }

    /// Returns the first `limit` records refused by the service.
    pub async fn failed(&self, run: RunId, limit: u32) -> Result<Vec<Seq>, Error> {
        let query = "SELECT seq FROM (SELECT seq FROM outcome WHERE run = $1 AND state = 'failed' \
                     UNION ALL SELECT seq FROM resolution WHERE run = $1 AND state = 'failed') AS refused \
                     ORDER BY seq LIMIT $2";
        Ok(sqlx::query_scalar(query).bind(run).bind(i64::from(limit)).fetch_all(&self.reader).await?)
    }

    /// Adds outcomes in one transaction. Durable on return.
    ///
    /// # Errors
    /// [`Error::Database`] if a record has an outcome already. Nothing is added then.
    pub async fn settle(&self, run: RunId, outcomes: &[Outcome]) -> Result<(), Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        insert_outcomes(&mut transaction, run, outcomes).await?;
        transaction.commit().await?;
        Ok(())
    }
}

pub(super) async fn insert_outcomes(
    connection: &mut SqliteConnection,
    run: RunId,
    outcomes: &[Outcome],
) -> Result<(), Error> {
    for outcomes in outcomes.chunks(ROWS_PER_INSERT) {
        let problems: Vec<Option<String>> = outcomes.iter().map(problems_json).collect::<Result<_, Error>>()?;
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO outcome (run, seq, state, attempts, at, http_status, service_status, service_id, ctx_id, \
             job_id, problems) ",
        );
        query.push_values(outcomes.iter().zip(problems), |mut row, (outcome, problems)| {
            row.push_bind(run)
                .push_bind(outcome.seq)
                .push_bind(outcome.state.name())
                .push_bind(i64::from(outcome.attempts))
                .push_bind(outcome.at)
                .push_bind(outcome.http_status.map(i64::from))
                .push_bind(&outcome.service_status)
                .push_bind(&outcome.service_id)
                .push_bind(&outcome.ctx_id)
                .push_bind(&outcome.job_id)
                .push_bind(problems);
        });
        // Only the statement for a full chunk is cached: statements for other lengths would fill the cache.
        query.build().persistent(outcomes.len() == ROWS_PER_INSERT).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Parses the state of an outcome or resolution. Pending records have neither.
pub(super) fn outcome_state(name: &str) -> Result<RecordState, Error> {
    let state = RecordState::from_name(name).filter(|state| *state != RecordState::Pending);
    state.ok_or_else(|| corrupt(format_args!("an outcome with the state '{name}'")))
}

/// Returns the problem shown for a record resolved by `who`.
fn resolution_problem(state: RecordState, who: &str) -> Problem {
    let was = if state == RecordState::Sent { "applied" } else { "not applied" };
    Problem::of_record("resolved", format!("{who} says that it was {was}"))
}

fn problems_json(outcome: &Outcome) -> Result<Option<String>, Error> {
    match outcome.problems.as_slice() {
        [] => Ok(None),
        problems => serde_json::to_string(problems).map(Some).map_err(corrupt),
    }
}

fn from_row(row: &SqliteRow) -> Result<Outcome, Error> {
    let state = outcome_state(row.try_get(1)?)?;
    let attempts: i64 = row.try_get(2)?;
    let http_status: Option<i64> = row.try_get(4)?;
    let problems: Option<&str> = row.try_get(9)?;
    let mut problems: Vec<Problem> =
        problems.map_or(Ok(Vec::new()), |json| serde_json::from_str(json).map_err(corrupt))?;
    let who: Option<&str> = row.try_get(10)?;
    problems.extend(who.map(|who| resolution_problem(state, who)));
    Ok(Outcome {
        seq: row.try_get(0)?,
        state,
        attempts: u32::try_from(attempts).map_err(corrupt)?,
        at: row.try_get(3)?,
        http_status: http_status.map(u16::try_from).transpose().map_err(corrupt)?,
        service_status: row.try_get(5)?,
        service_id: row.try_get(6)?,
        ctx_id: row.try_get(7)?,
        job_id: row.try_get(8)?,
        problems,
    })
}
