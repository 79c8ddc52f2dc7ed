//! Sending from a plan: the records still to go, the intent to send them, and what became of them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Arguments, QueryBuilder, Row, Sqlite};

use super::block::{PlannedRecord, Problem, RecordHeads, Sendable, SourceBlock};
use super::error::Error;
use super::open::Ledger;
use super::outcomes::said;
use super::{RunId, Seq};

/// What became of a record.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub seq: Seq,
    pub state: OutcomeState,
    pub http_status: Option<u16>,
    pub service_status: Option<String>,
    pub service_id: Option<String>,
    pub ctx_id: Option<String>,
    pub job_id: Option<String>,
    pub problems: Vec<Problem>,
    /// Requests made for it.
    pub attempts: u32,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeState {
    Sent,
    Unchanged,
    /// Found to be wrong after its block was planned.
    Rejected,
    /// Found to be left out after its block was planned: another record has its key, and counts.
    Skipped,
    Failed,
    Unknown,
}

/// A stretch of planned records. A record's place is `first` and its index together.
#[derive(Debug)]
pub struct RecordBlock {
    pub first: Seq,
    pub records: Vec<PlannedRecord>,
}

/// The records of a block that are to be sent.
#[derive(Debug)]
pub struct SendableBlock {
    pub first: Seq,
    /// The place after the block's last record.
    pub end: Seq,
    pub records: Vec<Sendable>,
}

impl Outcome {
    pub fn new(seq: Seq, state: OutcomeState, at: i64) -> Outcome {
        Outcome {
            seq,
            state,
            http_status: None,
            service_status: None,
            service_id: None,
            ctx_id: None,
            job_id: None,
            problems: Vec::new(),
            attempts: 0,
            at,
        }
    }
}

impl OutcomeState {
    const ALL: [OutcomeState; 6] = [
        OutcomeState::Sent,
        OutcomeState::Unchanged,
        OutcomeState::Rejected,
        OutcomeState::Skipped,
        OutcomeState::Failed,
        OutcomeState::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            OutcomeState::Sent => "sent",
            OutcomeState::Unchanged => "unchanged",
            OutcomeState::Rejected => "rejected",
            OutcomeState::Skipped => "skipped",
            OutcomeState::Failed => "failed",
            OutcomeState::Unknown => "unknown",
        }
    }

    pub(super) fn from_name(name: &str) -> Result<OutcomeState, Error> {
        OutcomeState::ALL
            .into_iter()
            .find(|known| known.name() == name)
            .ok_or_else(|| Error::Corrupt(format!("an outcome in the state '{name}'")))
    }
}

/// The first block of records from one on, and the one that holds a record.
const FROM: &str =
    "SELECT first, records, heads, bodies FROM record_block WHERE run = $1 AND first >= $2 ORDER BY first LIMIT 1";
const HOLDING: &str =
    "SELECT first, records, heads, bodies FROM record_block WHERE run = $1 AND first <= $2 ORDER BY first DESC LIMIT 1";

impl Ledger {
    /// The first block that begins at the record `from` or later; nothing past the end.
    pub async fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        self.block(FROM, run, from, record_block).await
    }

    /// What is to be sent of the first block that begins at the record `from` or later; nothing past the end.
    pub async fn sendable_block(&self, run: RunId, from: Seq) -> Result<Option<SendableBlock>, Error> {
        let sendable = |heads: RecordHeads, bodies: &[u8]| {
            let records = heads.sendable(bodies)?;
            Ok(SendableBlock { first: heads.first, end: heads.last() + 1, records })
        };
        self.block(FROM, run, from, sendable).await
    }

    /// The block that holds the record `seq`.
    pub async fn record_block_of(&self, run: RunId, seq: Seq) -> Result<Option<RecordBlock>, Error> {
        self.block(HOLDING, run, seq, record_block).await
    }

    async fn block<T>(
        &self,
        query: &'static str,
        run: RunId,
        seq: Seq,
        open: impl FnOnce(RecordHeads, &[u8]) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let row = sqlx::query(query).bind(run).bind(seq).fetch_optional(&self.reader).await?;
        let Some(row) = row else { return Ok(None) };
        open(heads(&row)?, row.try_get("bodies")?).map(Some)
    }

    /// The block that holds the record `seq`, and those that follow, `most` together, without the bodies of requests.
    pub async fn record_heads_of(&self, run: RunId, seq: Seq, most: u32) -> Result<Vec<RecordHeads>, Error> {
        let query = "SELECT first, records, heads FROM record_block WHERE run = $1 AND first >= \
                     (SELECT MAX(first) FROM record_block WHERE run = $1 AND first <= $2) ORDER BY first LIMIT $3";
        let query = sqlx::query(query).bind(run).bind(seq).bind(i64::from(most));
        let rows = query.fetch_all(&self.reader).await?;
        rows.iter().map(heads).collect()
    }

    /// The rows of the sheet in blocks: the one that begins at `from` or next after it.
    pub async fn source_block(&self, run: RunId, from: i64) -> Result<Option<SourceBlock>, Error> {
        Ok(self.source_blocks(run, from, 1).await?.pop())
    }

    /// The same, `most` blocks together.
    pub async fn source_blocks(&self, run: RunId, from: i64, most: u32) -> Result<Vec<SourceBlock>, Error> {
        let query = "SELECT first, rows, body FROM source_block WHERE run = $1 AND first >= $2 ORDER BY first LIMIT $3";
        let query = sqlx::query(query).bind(run).bind(from).bind(i64::from(most));
        let rows = query.fetch_all(&self.reader).await?;
        rows.iter().map(|row| SourceBlock::decode(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)).collect()
    }

    /// Which of these records have an outcome already.
    pub async fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        let seqs = sqlx::query_scalar("SELECT seq FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3")
            .bind(run)
            .bind(range.start())
            .bind(range.end())
            .fetch_all(&self.reader)
            .await?;
        Ok(seqs.into_iter().collect())
    }

    /// The first records that the service refused.
    pub async fn failed(&self, run: RunId, limit: u32) -> Result<Vec<Seq>, Error> {
        let query = "SELECT seq FROM (SELECT seq FROM outcome WHERE run = $1 AND state = 'failed' \
                     UNION ALL SELECT seq FROM resolution WHERE run = $1 AND state = 'failed') AS refused \
                     ORDER BY seq LIMIT $2";
        Ok(sqlx::query_scalar(query).bind(run).bind(i64::from(limit)).fetch_all(&self.reader).await?)
    }

    /// Notes that these records are about to be sent. Durable when it returns.
    pub async fn intend(&self, run: RunId, range: RangeInclusive<Seq>, now: i64) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO intent (run, first, last, at) VALUES ($1, $2, $3, $4) ON CONFLICT (run, first, at) DO NOTHING",
        )
        .bind(run)
        .bind(range.start())
        .bind(range.end())
        .bind(now)
        .execute(&self.writer)
        .await?;
        Ok(())
    }

    /// Adds outcomes, all or none. Durable when it returns.
    pub async fn settle(&self, run: RunId, outcomes: &[Outcome]) -> Result<(), Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        insert_outcomes(&mut transaction, run, outcomes).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// So many outcomes are added by one statement, the largest first. There are few of them, so that the database has each
/// prepared.
const TOGETHER: [usize; 9] = [256, 128, 64, 32, 16, 8, 4, 2, 1];
static STATEMENTS: LazyLock<[String; TOGETHER.len()]> = LazyLock::new(|| TOGETHER.map(statement));

/// The values that an outcome has in a statement.
const COLUMNS: usize = 6;

/// The builder writes parameters as the database has them; what is bound here is of no account.
fn statement(rows: usize) -> String {
    let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO outcome (run, seq, state, attempts, at, said) ");
    query.push_values(0..rows, |mut row, _| {
        for _ in 0..COLUMNS {
            row.push_bind(0_i64);
        }
    });
    query.into_string()
}

pub(super) async fn insert_outcomes(
    connection: &mut SqliteConnection,
    run: RunId,
    outcomes: &[Outcome],
) -> Result<(), Error> {
    // Nearly all have the same state.
    let mut state = (OutcomeState::Sent, Arc::<str>::from(OutcomeState::Sent.name()));
    let mut rest = outcomes;
    for (len, statement) in TOGETHER.into_iter().zip(STATEMENTS.iter()) {
        while let Some((outcomes, others)) = rest.split_at_checked(len) {
            let mut values = SqliteArguments::default();
            values.reserve(outcomes.len() * COLUMNS, 0);
            for outcome in outcomes {
                if state.0 != outcome.state {
                    state = (outcome.state, outcome.state.name().into());
                }
                bind(&mut values, run, outcome, &state.1, said(outcome)?).map_err(sqlx::Error::Encode)?;
            }
            sqlx::query_with(statement.as_str(), values).execute(&mut *connection).await?;
            rest = others;
        }
    }
    Ok(())
}

/// Adds what a statement has for one outcome. Its own calls, because a query that is bound to is moved with each.
fn bind(
    values: &mut SqliteArguments,
    run: RunId,
    outcome: &Outcome,
    state: &Arc<str>,
    said: String,
) -> Result<(), BoxDynError> {
    values.add(run)?;
    values.add(outcome.seq)?;
    values.add(Arc::clone(state))?;
    values.add(i64::from(outcome.attempts))?;
    values.add(outcome.at)?;
    values.add(said)
}

fn record_block(heads: RecordHeads, bodies: &[u8]) -> Result<RecordBlock, Error> {
    Ok(RecordBlock { first: heads.first, records: heads.planned(bodies)? })
}

fn heads(row: &SqliteRow) -> Result<RecordHeads, Error> {
    RecordHeads::decode(row.try_get("first")?, row.try_get("records")?, row.try_get("heads")?)
}
