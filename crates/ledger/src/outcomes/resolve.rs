//! Decisions by people about records with an unknown result.

use sheetport_sql::{self as sql, Builder, Value};

use super::super::checksums::Checksum;
use super::super::checksums::totals::{self, Totals};
use super::super::database::{Ledger, to_json};
use super::super::error::{Error, corrupt};
use super::super::event::{Action, NewEvent};
use super::super::ids::{RunId, Seq};
use super::super::records::{Outcome, PlannedRecord};
use super::super::state::RecordState;

/// A record with an unknown result.
#[derive(Debug)]
pub struct UnknownRecord {
    pub seq: Seq,
    /// The number of the first row, 0 if the file lacks the record.
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

    fn action(self) -> Action {
        match self {
            Resolution::Sent => Action::ResolvedSent,
            Resolution::Failed => Action::ResolvedFailed,
        }
    }
}

impl Ledger {
    /// Returns unresolved unknown records at or after `from`, in order, up to the end of a block. Empty at the end.
    pub async fn unknown_records(&self, run: RunId, from: Seq) -> Result<Vec<UnknownRecord>, Error> {
        let query = "SELECT MIN(seq) FROM outcome WHERE run = $1 AND seq >= $2 AND state = 'unknown' \
                     AND NOT EXISTS (SELECT 1 FROM resolution WHERE run = outcome.run AND seq = outcome.seq)";
        let next: Option<Seq> = sql::query_scalar(query).bind(run).bind(from).fetch_one(&self.reader).await?;
        let Some(next) = next else { return Ok(Vec::new()) };
        let invalid = |seq| corrupt(format_args!("run {run} has no request for the record {seq}"));
        let block = self.record_block_of(run, next).await?.ok_or_else(|| invalid(next))?;
        let mut outcomes = self.outcomes(run, next..=block.end() - 1).await?;
        outcomes.retain(|_, outcome| outcome.state == RecordState::Unknown);
        let mut unknown = Vec::with_capacity(outcomes.len());
        for (seq, record) in (block.first..).zip(block.records) {
            let Some(outcome) = outcomes.remove(&seq) else { continue };
            let row = record.rows.first().copied().unwrap_or_default();
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
        let mut transaction = self.begin().await?;
        let query = format!(
            "SELECT seq FROM outcome WHERE run = $1 AND state = 'unknown' AND seq {} \
             AND NOT EXISTS (SELECT 1 FROM resolution WHERE run = outcome.run AND seq = outcome.seq)",
            self.dialect().is_in("$2")
        );
        let query = sql::query_scalar(query).bind(run).bind(to_json(seqs)?);
        let unknown: Vec<Seq> = query.fetch_all(&mut transaction).await?;
        let state = resolution.state().name();
        for seqs in unknown.chunks(self.dialect().rows_per_statement()) {
            let insert = "INSERT INTO resolution (run, seq, state, who, at, checksum) ";
            let mut query = Builder::new(self.dialect(), insert);
            query.push_rows(seqs.iter().map(|seq| {
                let checksum = checksum(run, *seq, state, who, now);
                [Value::from(run), seq.into(), state.into(), who.into(), now.into(), checksum.into()]
            }));
            query.build_for(seqs.len()).execute(&mut transaction).await?;
        }
        let add = |totals: &mut Totals| {
            unknown.iter().for_each(|seq| totals.resolutions.add(*seq, checksum(run, *seq, state, who, now)));
            totals.states.add(RecordState::Unknown, -(unknown.len() as i64));
            totals.states.add(resolution.state(), unknown.len() as i64);
        };
        totals::change(&mut transaction, run, add).await?;
        if !unknown.is_empty() {
            let event = NewEvent::of(resolution.action()).by(who).counting(unknown.len() as i64);
            event.write(&mut transaction, run, now).await?;
        }
        transaction.commit().await?;
        Ok(unknown.len() as u64)
    }
}

/// Returns the checksum of a resolution.
pub(crate) fn checksum(run: RunId, seq: Seq, state: &str, who: &str, at: i64) -> i64 {
    Checksum::of("resolution").number(run).number(seq).text(state).text(who).number(at).short()
}
