//! A person's word on records of which nobody knows whether they were applied.

use std::ops::RangeInclusive;

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite};

use super::block::{Fate, PlannedRecord, Problem};
use super::error::Error;
use super::open::Ledger;
use super::send::{Outcome, OutcomeState};
use super::{RunId, Seq};

/// A record that may or may not have been applied.
#[derive(Debug)]
pub struct Doubtful {
    pub seq: Seq,
    pub record: PlannedRecord,
    pub outcome: Outcome,
}

impl Doubtful {
    /// The body that was sent.
    pub fn body(&self) -> &str {
        match &self.record.fate {
            Fate::Send(body) => body,
            Fate::Rejected(_) | Fate::Skipped | Fate::Kept(_) => "",
        }
    }

    /// The row that it began on.
    pub fn row(&self) -> u64 {
        self.record.rows.first().copied().unwrap_or_default()
    }
}

/// What a person says about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Sent,
    Failed,
}

impl Verdict {
    fn state(self) -> OutcomeState {
        match self {
            Verdict::Sent => OutcomeState::Sent,
            Verdict::Failed => OutcomeState::Failed,
        }
    }
}

/// What a person said about one. It comes before what was noted.
#[derive(Clone, Debug)]
pub struct Resolution {
    pub seq: Seq,
    pub state: OutcomeState,
    who: String,
}

impl Ledger {
    /// The records in doubt, the first block of them from the record `from` on, in their order. Empty: there are no more.
    pub async fn unknown(&self, run: RunId, from: Seq) -> Result<Vec<Doubtful>, Error> {
        let query = "SELECT MIN(seq) FROM outcome WHERE run = $1 AND seq >= $2 AND state = 'unknown' \
                     AND NOT EXISTS (SELECT 1 FROM resolution WHERE run = outcome.run AND seq = outcome.seq)";
        let next: Option<Seq> = sqlx::query_scalar(query).bind(run).bind(from).fetch_one(&self.reader).await?;
        let Some(next) = next else { return Ok(Vec::new()) };
        let Some(block) = self.record_block_of(run, next).await? else {
            return Err(Error::Corrupt(format!("run {run} has no record {next}")));
        };
        let last = block.first + block.records.len() as Seq - 1;
        let mut outcomes = self.outcomes(run, next..=last).await?;
        let doubtful = (block.first..).zip(block.records).filter_map(|(seq, record)| {
            let outcome = outcomes.remove(&seq).filter(|outcome| outcome.state == OutcomeState::Unknown)?;
            Some(Doubtful { seq, record, outcome })
        });
        Ok(doubtful.collect())
    }

    /// Notes what a person says about records in doubt. Those that are not in doubt are left alone; answers how many were.
    pub async fn resolve(&self, run: RunId, seqs: &[Seq], verdict: Verdict, who: &str, now: i64) -> Result<u64, Error> {
        let mut resolved = 0;
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        for seqs in seqs.chunks(1_000) {
            let mut query =
                QueryBuilder::<Sqlite>::new("INSERT INTO resolution (run, seq, state, who, at) SELECT run, seq, ");
            query.push_bind(verdict.state().name()).push(", ").push_bind(who).push(", ").push_bind(now);
            query.push(" FROM outcome WHERE run = ").push_bind(run).push(" AND state = 'unknown' AND seq IN (");
            let mut list = query.separated(", ");
            for seq in seqs {
                list.push_bind(*seq);
            }
            query.push(") ON CONFLICT (run, seq) DO NOTHING");
            resolved += query.build().execute(&mut *transaction).await?.rows_affected();
        }
        transaction.commit().await?;
        Ok(resolved)
    }

    /// What people said about these records.
    pub async fn resolutions(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<Vec<Resolution>, Error> {
        let rows = sqlx::query("SELECT seq, state, who FROM resolution WHERE run = $1 AND seq BETWEEN $2 AND $3")
            .bind(run)
            .bind(range.start())
            .bind(range.end())
            .fetch_all(&self.reader)
            .await?;
        let resolution = |row: SqliteRow| {
            let state: String = row.try_get(1)?;
            Ok(Resolution { seq: row.try_get(0)?, state: OutcomeState::from_name(&state)?, who: row.try_get(2)? })
        };
        rows.into_iter().map(resolution).collect()
    }
}

impl Resolution {
    /// What is said of the record from then on.
    pub fn problem(&self) -> Problem {
        let was = if self.state == OutcomeState::Sent { "applied" } else { "not applied" };
        Problem::of_record("resolved", format!("{} says that it was {was}", self.who))
    }
}
