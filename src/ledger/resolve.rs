//! Decisions by people about records with an unknown result.

use super::database::{Ledger, to_json};
use super::error::{Error, corrupt};
use super::ids::{RunId, Seq};
use super::model::{Outcome, PlannedRecord};
use super::state::RecordState;

/// A record with an unknown result.
#[derive(Debug)]
pub struct UnknownRecord {
    pub seq: Seq,
    /// The number of the first row.
    pub row: u64,
    pub record: PlannedRecord<()>,
    /// The request body.
    pub body: Box<str>,
    pub outcome: Outcome,
}

/// A person's decision about an unknown record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    Sent,
    Failed,
}

impl Resolution {
    fn state(self) -> RecordState {
        match self {
            Resolution::Sent => RecordState::Sent,
            Resolution::Failed => RecordState::Failed,
        }
    }
}

impl Ledger {
    /// Returns unresolved unknown records at or after `from`, in order, up to the end of a block. Empty at the end.
    pub async fn unknown_records(&self, run: RunId, from: Seq) -> Result<Vec<UnknownRecord>, Error> {
        let query = "SELECT MIN(seq) FROM outcome WHERE run = $1 AND seq >= $2 AND state = 'unknown' \
                     AND NOT EXISTS (SELECT 1 FROM resolution WHERE run = outcome.run AND seq = outcome.seq)";
        let next: Option<Seq> = sqlx::query_scalar(query).bind(run).bind(from).fetch_one(&self.reader).await?;
        let Some(next) = next else { return Ok(Vec::new()) };
        let invalid = |seq| corrupt(format_args!("run {run} has no request for the record {seq}"));
        let block = self.record_block_of(run, next).await?.ok_or_else(|| invalid(next))?;
        let mut outcomes = self.outcomes(run, next..=block.end() - 1).await?;
        outcomes.retain(|_, outcome| outcome.state == RecordState::Unknown);
        let mut unknown = Vec::with_capacity(outcomes.len());
        for (seq, record) in (block.first..).zip(block.records) {
            let Some(outcome) = outcomes.remove(&seq) else { continue };
            let row = *record.rows.first().ok_or_else(|| invalid(seq))?;
            let (record, body) = record.split_body();
            unknown.push(UnknownRecord { seq, row, record, body: body.ok_or_else(|| invalid(seq))?, outcome });
        }
        Ok(unknown)
    }

    /// Stores a person's decision about these records and returns how many were unknown. Other records are ignored.
    pub async fn resolve(
        &self,
        run: RunId,
        seqs: &[Seq],
        resolution: Resolution,
        who: &str,
        now: i64,
    ) -> Result<u64, Error> {
        let query = "INSERT INTO resolution (run, seq, state, who, at) SELECT run, seq, $3, $4, $5 FROM outcome \
                     WHERE run = $1 AND state = 'unknown' AND seq IN (SELECT value FROM json_each($2)) \
                     ON CONFLICT (run, seq) DO NOTHING";
        let query =
            sqlx::query(query).bind(run).bind(to_json(seqs)?).bind(resolution.state().name()).bind(who).bind(now);
        Ok(query.execute(&self.writer).await?.rows_affected())
    }
}
