//! What became of each record: its plan and its outcome, brought together block by block.

use std::collections::BTreeMap;
use std::sync::Arc;

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

/// What became of a record. There may be a million of them in memory, so what only few have stands apart.
#[derive(Debug)]
pub(super) struct RecordOutcome {
    pub state: RecordState,
    pub service_id: Option<Box<str>>,
    pub ctx_id: Option<Box<str>>,
    pub job_id: Option<Box<str>>,
    pub http_status: Option<u16>,
    pub attempts: Option<u32>,
    trouble: Option<Box<Trouble>>,
}

/// What is said of a record, and what tells of which it is said.
#[derive(Debug)]
pub(super) struct Trouble {
    pub problems: Vec<Problem>,
    /// What identifies the record in the service.
    key: Option<String>,
    /// The numbers of the rows that made the record.
    pub rows: Vec<u64>,
    /// The sheet of the first of them, where there are several.
    pub sheet: String,
}

/// As much of blocks as is kept for records whose rows stand all over the sheet.
const KEPT_BYTES: usize = 40 * 1024 * 1024;

/// Looks records up, a block at a time.
///
/// Rows mostly come in their records' order, and then one block after the other is enough. Where the rows of a record
/// stand all over the sheet, every stretch of rows needs blocks from everywhere. The first that fit are kept then, and
/// not the last: what is asked for comes round in order, and a cache of the last ones would never have the next.
pub(super) struct Outcomes {
    ledger: Ledger,
    run: RunId,
    kept: BTreeMap<Seq, Block>,
    kept_bytes: usize,
    room: usize,
    /// The block that was used last, where it is not among those that are kept.
    last: Option<Block>,
    /// Some had no room: the longer the stretches that are asked for, the fewer are read again.
    pub is_crowded: bool,
}

struct Block {
    first: Seq,
    records: Vec<Arc<RecordOutcome>>,
}

impl Block {
    fn of(&self, seq: Seq) -> Option<&Arc<RecordOutcome>> {
        usize::try_from(seq - self.first).ok().and_then(|index| self.records.get(index))
    }

    fn end(&self) -> Seq {
        self.first + self.records.len() as Seq
    }

    /// As much as it may take in memory.
    fn bytes(&self) -> usize {
        self.records.iter().map(|record| record.bytes()).sum()
    }
}

impl RecordOutcome {
    pub fn problems(&self) -> &[Problem] {
        self.trouble.as_ref().map_or(&[], |trouble| &trouble.problems)
    }

    /// Of a record with problems.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_deref()
    }

    /// What a record with problems is called here and there: words that hold one of these are about this record.
    pub fn names(&self) -> Vec<&str> {
        let key = self.trouble.as_ref().and_then(|trouble| trouble.key.as_deref());
        [key, self.service_id.as_deref(), self.ctx_id.as_deref(), self.job_id.as_deref()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// As much as it may take in memory.
    fn bytes(&self) -> usize {
        const ALLOCATION: usize = 16;
        let of_texts = |texts: &[&str]| texts.iter().map(|text| text.len() + ALLOCATION).sum::<usize>();
        let ids = [&self.service_id, &self.ctx_id, &self.job_id].into_iter().flatten();
        let of_trouble = self.trouble.as_ref().map_or(0, |trouble| {
            let of_problem = |problem: &Problem| {
                let Problem { code, header, field, value, sheet, message, remedy, .. } = problem;
                size_of::<Problem>() + of_texts(&[code, header, field, value, sheet, message, remedy])
            };
            let own = size_of::<Trouble>() + of_texts(&[trouble.key.as_deref().unwrap_or_default(), &trouble.sheet]);
            own + trouble.rows.len() * size_of::<u64>() + trouble.problems.iter().map(of_problem).sum::<usize>()
        });
        size_of::<RecordOutcome>() + 2 * ALLOCATION + ids.map(|id| id.len() + ALLOCATION).sum::<usize>() + of_trouble
    }
}

impl Outcomes {
    pub fn new(ledger: &Ledger, run: RunId) -> Outcomes {
        Outcomes {
            ledger: ledger.clone(),
            run,
            kept: BTreeMap::new(),
            kept_bytes: 0,
            room: KEPT_BYTES,
            last: None,
            is_crowded: false,
        }
    }

    pub async fn of(&mut self, seq: Seq) -> Result<Arc<RecordOutcome>, ledger::Error> {
        if let Some(found) = self.find(seq) {
            return Ok(found);
        }
        self.load(seq).await?;
        self.find(seq).ok_or_else(|| ledger::Error::Corrupt(format!("run {} has no record {seq}", self.run)))
    }

    /// What became of each of these, in their order. No block is read twice for it.
    pub async fn of_all(&mut self, seqs: &[Seq]) -> Result<Vec<Arc<RecordOutcome>>, ledger::Error> {
        let Some(least) = seqs.iter().min().copied() else { return Ok(Vec::new()) };
        self.forget_before(least);
        let mut places: Vec<usize> = (0..seqs.len()).collect();
        if !seqs.is_sorted() {
            places.sort_unstable_by_key(|place| seqs[*place]);
        }
        let mut found: Vec<Option<Arc<RecordOutcome>>> = vec![None; seqs.len()];
        for place in places {
            found[place] = Some(self.of(seqs[place]).await?);
        }
        Ok(found.into_iter().flatten().collect())
    }

    fn find(&self, seq: Seq) -> Option<Arc<RecordOutcome>> {
        if let Some(found) = self.last.as_ref().and_then(|block| block.of(seq)) {
            return Some(Arc::clone(found));
        }
        let (_, block) = self.kept.range(..=seq).next_back()?;
        block.of(seq).map(Arc::clone)
    }

    /// Records before that one have had all their rows, as far as can be told.
    fn forget_before(&mut self, seq: Seq) {
        while let Some(block) = self.kept.first_entry().filter(|block| block.get().end() <= seq) {
            self.kept_bytes -= block.remove().bytes();
        }
    }

    async fn load(&mut self, seq: Seq) -> Result<(), ledger::Error> {
        let Some(block) = self.ledger.record_block_of(self.run, seq).await? else { return Ok(()) };
        let last = block.first + block.records.len() as Seq - 1;
        let mut settled: BTreeMap<Seq, Outcome> = self.ledger.outcomes(self.run, block.first..=last).await?;
        let outcome = |(seq, record)| Arc::new(together(record, settled.remove(&seq)));
        let block = Block { first: block.first, records: (block.first..).zip(block.records).map(outcome).collect() };
        let bytes = block.bytes();
        if self.kept_bytes + bytes <= self.room {
            self.kept_bytes += bytes;
            self.kept.insert(block.first, block);
        } else {
            self.last = Some(block);
            self.is_crowded = true;
        }
        Ok(())
    }
}

fn together(record: PlannedRecord, outcome: Option<Outcome>) -> RecordOutcome {
    let PlannedRecord { key, rows, sheet, fate, .. } = record;
    let trouble =
        |problems: Vec<Problem>| (!problems.is_empty()).then(|| Box::new(Trouble { problems, key, rows, sheet }));
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
            service_id: outcome.service_id.map(String::into_boxed_str),
            ctx_id: outcome.ctx_id.map(String::into_boxed_str),
            job_id: outcome.job_id.map(String::into_boxed_str),
            http_status: outcome.http_status,
            attempts: (outcome.attempts > 0).then_some(outcome.attempts),
            trouble: trouble(outcome.problems),
        };
    }
    let service_id = match &fate {
        Fate::Kept(kept) => kept.service_id.clone().map(String::into_boxed_str),
        _ => None,
    };
    let (state, problems) = match fate {
        Fate::Send(_) => (RecordState::Pending, Vec::new()),
        Fate::Rejected(problems) => (RecordState::Rejected, problems),
        Fate::Skipped => (RecordState::Skipped, Vec::new()),
        Fate::Kept(_) => (RecordState::Unchanged, Vec::new()),
    };
    RecordOutcome {
        state,
        service_id,
        ctx_id: None,
        job_id: None,
        http_status: None,
        attempts: None,
        trouble: trouble(problems),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ledger::NewRun;

    const RECORDS: Seq = 2_000;

    async fn planned(folder: &std::path::Path) -> (Ledger, RunId) {
        let ledger = Ledger::open(folder).await.unwrap();
        let mut plan = ledger.begin_plan(&NewRun::default(), 1).await.unwrap();
        for seq in 0..RECORDS {
            let fate = match seq % 3 {
                0 => Fate::Rejected(vec![Problem::of_record("blank", seq.to_string())]),
                _ => Fate::Skipped,
            };
            let key = Some(seq.to_string());
            let rows = vec![seq.unsigned_abs()];
            plan.record(PlannedRecord { key, target: None, rows, fate, sheet: String::new() }).await.unwrap();
        }
        let run = plan.finish(0).await.unwrap().run;
        (ledger, run)
    }

    #[tokio::test]
    async fn records_are_found_in_any_order_however_little_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, run) = planned(folder.path()).await;
        let scattered: Vec<Seq> = (0..RECORDS).map(|place| place * 997 % RECORDS).collect();
        let in_order: Vec<Seq> = (0..RECORDS).collect();
        for room in [0, 200_000, KEPT_BYTES] {
            for seqs in [&scattered, &in_order] {
                let mut outcomes = Outcomes { room, ..Outcomes::new(&ledger, run) };
                for window in seqs.chunks(700) {
                    let found = outcomes.of_all(window).await.unwrap();
                    for (seq, found) in window.iter().zip(&found) {
                        let said = found.problems().first().map(|problem| problem.message.clone());
                        assert_eq!(said, (seq % 3 == 0).then(|| seq.to_string()));
                    }
                    assert!(outcomes.kept_bytes <= room);
                    assert_eq!(outcomes.kept_bytes, outcomes.kept.values().map(Block::bytes).sum::<usize>());
                }
                // In order, what is behind is let go.
                assert!(seqs == &scattered || outcomes.kept.keys().all(|first| *first >= 1_024));
            }
        }
        assert!(Outcomes::new(&ledger, run).of(RECORDS).await.is_err());
    }
}
