//! What became of each record: its plan and its outcome, brought together block by block.

use std::collections::BTreeMap;

use crate::ledger::{self, Fate, Ledger, Outcome, OutcomeState, PlannedRecord, Problem, RunId, Seq};

/// Where a record is, in the words of the accounting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    Sent,
    Unchanged,
    Skipped,
    Rejected,
    Failed,
    Unknown,
    Pending,
}

impl RecordState {
    const ALL: [RecordState; 7] = [
        RecordState::Sent,
        RecordState::Unchanged,
        RecordState::Skipped,
        RecordState::Rejected,
        RecordState::Failed,
        RecordState::Unknown,
        RecordState::Pending,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RecordState::Sent => "sent",
            RecordState::Unchanged => "unchanged",
            RecordState::Skipped => "skipped",
            RecordState::Rejected => "rejected",
            RecordState::Failed => "failed",
            RecordState::Unknown => "unknown",
            RecordState::Pending => "pending",
        }
    }

    pub fn from_name(name: &str) -> Option<RecordState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    pub fn is_problem(self) -> bool {
        matches!(self, RecordState::Rejected | RecordState::Failed | RecordState::Unknown | RecordState::Pending)
    }
}

#[derive(Debug)]
pub(super) struct RecordOutcome {
    pub state: RecordState,
    /// The numbers of the rows that made the record.
    pub rows: Vec<u64>,
    /// The sheet of the first of them, where there are several.
    pub sheet: String,
    pub problems: Vec<Problem>,
    pub service_id: Option<String>,
    pub ctx_id: Option<String>,
    pub job_id: Option<String>,
    pub http_status: Option<u16>,
    pub attempts: Option<u32>,
}

/// Looks records up, keeping the block that was used last: rows mostly come in their records' order.
pub(super) struct Outcomes<'a> {
    ledger: &'a Ledger,
    run: RunId,
    first: Seq,
    block: Vec<RecordOutcome>,
}

impl<'a> Outcomes<'a> {
    pub fn new(ledger: &'a Ledger, run: RunId) -> Outcomes<'a> {
        Outcomes { ledger, run, first: 0, block: Vec::new() }
    }

    pub async fn of(&mut self, seq: Seq) -> Result<&RecordOutcome, ledger::Error> {
        if !(self.first..self.first + self.block.len() as Seq).contains(&seq) {
            self.load(seq).await?;
        }
        let missing = || ledger::Error::Corrupt(format!("run {} has no record {seq}", self.run));
        usize::try_from(seq - self.first).ok().and_then(|index| self.block.get(index)).ok_or_else(missing)
    }

    async fn load(&mut self, seq: Seq) -> Result<(), ledger::Error> {
        let Some(block) = self.ledger.record_block_of(self.run, seq).await? else { return Ok(()) };
        let last = block.first + block.records.len() as Seq;
        let mut settled: BTreeMap<Seq, Outcome> = self.ledger.outcomes(self.run, block.first..=last).await?;
        self.first = block.first;
        self.block =
            (block.first..).zip(block.records).map(|(seq, record)| together(record, settled.remove(&seq))).collect();
        Ok(())
    }
}

fn together(record: PlannedRecord, outcome: Option<Outcome>) -> RecordOutcome {
    if let Some(outcome) = outcome {
        return RecordOutcome {
            state: match outcome.state {
                OutcomeState::Sent => RecordState::Sent,
                OutcomeState::Unchanged => RecordState::Unchanged,
                OutcomeState::Rejected => RecordState::Rejected,
                OutcomeState::Skipped => RecordState::Skipped,
                OutcomeState::Failed => RecordState::Failed,
                OutcomeState::Unknown => RecordState::Unknown,
            },
            rows: record.rows,
            sheet: record.sheet,
            problems: outcome.problems,
            service_id: outcome.service_id,
            ctx_id: outcome.ctx_id,
            job_id: outcome.job_id,
            http_status: outcome.http_status,
            attempts: (outcome.attempts > 0).then_some(outcome.attempts),
        };
    }
    let service_id = match &record.fate {
        Fate::Kept(kept) => kept.service_id.clone(),
        _ => None,
    };
    let (state, problems) = match record.fate {
        Fate::Send(_) => (RecordState::Pending, Vec::new()),
        Fate::Rejected(problems) => (RecordState::Rejected, problems),
        Fate::Skipped => (RecordState::Skipped, Vec::new()),
        Fate::Kept(_) => (RecordState::Unchanged, Vec::new()),
    };
    RecordOutcome {
        state,
        rows: record.rows,
        sheet: record.sheet,
        problems,
        service_id,
        ctx_id: None,
        job_id: None,
        http_status: None,
        attempts: None,
    }
}
