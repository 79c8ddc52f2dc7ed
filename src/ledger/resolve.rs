//! A person's word on records of which nobody knows whether they were applied.

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
            Fate::Send(body) => body.get(),
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

    /// Puts what people said in the place of the doubt.
    pub(super) async fn apply_resolutions(
        &self,
        run: RunId,
        first: Seq,
        last: Seq,
        outcomes: &mut std::collections::BTreeMap<Seq, Outcome>,
    ) -> Result<(), Error> {
        let rows = sqlx::query("SELECT seq, state, who, at FROM resolution WHERE run = $1 AND seq BETWEEN $2 AND $3")
            .bind(run)
            .bind(first)
            .bind(last)
            .fetch_all(&self.reader)
            .await?;
        for row in rows {
            let (seq, state, who): (Seq, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let Some(outcome) = outcomes.get_mut(&seq) else { continue };
            outcome.state = OutcomeState::from_name(&state)?;
            outcome
                .problems
                .push(Problem::of_record("resolved", format!("{who} says that it was {}", in_words(&state))));
        }
        Ok(())
    }
}

fn in_words(state: &str) -> &'static str {
    match state {
        "sent" => "applied",
        _ => "not applied",
    }
}
