//! What became of each record: its plan and its outcome, brought together block by block.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ledger::{
    self, BLOCK_LEN, HeadFate, Ledger, Noted, OutcomeState, Problem, RecordHead, RecordHeads, Resolution, RunId, Seq,
    Span, Stretch,
};

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
    pub(super) const ALL: [RecordState; 7] = [
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

/// What became of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordOutcome<'a> {
    block: &'a Block,
    entry: &'a Entry,
}

/// What became of the records of a block. There may be a million of them in memory, so their texts lie in one.
#[derive(Debug)]
pub(super) struct Block {
    first: Seq,
    text: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    state: RecordState,
    http_status: Option<u16>,
    attempts: u32,
    service_id: Span,
    ctx_id: Span,
    job_id: Span,
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

/// Blocks of the ledger that are read as one: each reading hands over from one thread to another.
const MOST_BLOCKS: u32 = 8;
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
    kept: BTreeMap<Seq, Arc<Block>>,
    kept_bytes: usize,
    room: usize,
    /// The block that was used last, where it is not among those that are kept.
    last: Option<Arc<Block>>,
    /// Some had no room: the longer the stretches that are asked for, the fewer are read again.
    pub is_crowded: bool,
}

/// What became of records that were asked for, in the order in which they were.
#[derive(Debug, Default)]
pub(super) struct Found {
    blocks: Vec<Arc<Block>>,
    /// The places of a block, and of a record within it.
    places: Vec<(u32, u32)>,
}

impl Found {
    pub fn iter(&self) -> impl Iterator<Item = RecordOutcome<'_>> {
        self.places.iter().map(|(block, entry)| {
            let block = self.blocks[*block as usize].as_ref();
            RecordOutcome { block, entry: &block.entries[*entry as usize] }
        })
    }
}

impl Block {
    fn place_of(&self, seq: Seq) -> Option<u32> {
        let place = usize::try_from(seq - self.first).ok().filter(|place| *place < self.entries.len())?;
        u32::try_from(place).ok()
    }

    fn end(&self) -> Seq {
        self.first + self.entries.len() as Seq
    }

    /// As much as it may take in memory.
    fn bytes(&self) -> usize {
        let of_troubles = self.entries.iter().filter_map(|entry| entry.trouble.as_deref()).map(Trouble::bytes);
        size_of::<Block>() + self.text.len() + self.entries.len() * size_of::<Entry>() + of_troubles.sum::<usize>()
    }
}

impl<'a> RecordOutcome<'a> {
    pub fn state(self) -> RecordState {
        self.entry.state
    }

    pub fn http_status(self) -> Option<u16> {
        self.entry.http_status
    }

    /// Nothing where there was no request.
    pub fn attempts(self) -> Option<u32> {
        (self.entry.attempts > 0).then_some(self.entry.attempts)
    }

    pub fn service_id(self) -> Option<&'a str> {
        self.entry.service_id.of(&self.block.text)
    }

    pub fn ctx_id(self) -> Option<&'a str> {
        self.entry.ctx_id.of(&self.block.text)
    }

    pub fn job_id(self) -> Option<&'a str> {
        self.entry.job_id.of(&self.block.text)
    }

    pub fn problems(self) -> &'a [Problem] {
        self.entry.trouble.as_ref().map_or(&[], |trouble| &trouble.problems)
    }

    /// Of a record with problems.
    pub fn trouble(self) -> Option<&'a Trouble> {
        self.entry.trouble.as_deref()
    }

    /// What a record with problems is called here and there: words that hold one of these are about this record.
    pub fn names(self) -> Vec<&'a str> {
        let key = self.trouble().and_then(|trouble| trouble.key.as_deref());
        [key, self.service_id(), self.ctx_id(), self.job_id()].into_iter().flatten().collect()
    }
}

impl Trouble {
    /// As much as it may take in memory.
    fn bytes(&self) -> usize {
        const ALLOCATION: usize = 16;
        let of_texts = |texts: &[&str]| texts.iter().map(|text| text.len() + ALLOCATION).sum::<usize>();
        let of_problem = |problem: &Problem| {
            let Problem { code, header, field, value, sheet, message, remedy, .. } = problem;
            size_of::<Problem>() + of_texts(&[code, header, field, value, sheet, message, remedy])
        };
        let own = size_of::<Trouble>() + of_texts(&[self.key.as_deref().unwrap_or_default(), &self.sheet]);
        own + self.rows.len() * size_of::<u64>() + self.problems.iter().map(of_problem).sum::<usize>()
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

    /// What became of each of these, in their order. No block is read twice for it.
    pub async fn of_all(&mut self, seqs: &[Seq]) -> Result<Found, ledger::Error> {
        let (Some(&least), Some(&greatest)) = (seqs.iter().min(), seqs.iter().max()) else {
            return Ok(Found::default());
        };
        self.forget_before(least);
        let mut found = Found { blocks: Vec::new(), places: vec![(0, 0); seqs.len()] };
        let mut order: Vec<usize> = (0..seqs.len()).collect();
        if !seqs.is_sorted() {
            order.sort_unstable_by_key(|place| seqs[*place]);
        }
        for place in order {
            let seq = seqs[place];
            let entry = match found.blocks.last().and_then(|block| block.place_of(seq)) {
                Some(entry) => entry,
                None => {
                    let most = greatest.saturating_sub(seq) / BLOCK_LEN as Seq + 1;
                    let block = self.block_of(seq, u32::try_from(most).unwrap_or(u32::MAX).min(MOST_BLOCKS)).await?;
                    let entry = block.place_of(seq);
                    found.blocks.push(block);
                    entry.ok_or_else(|| ledger::Error::Corrupt(format!("run {} has no record {seq}", self.run)))?
                }
            };
            found.places[place] = (found.blocks.len() as u32 - 1, entry);
        }
        Ok(found)
    }

    /// The block that would hold the record. If it is not there yet, `most` blocks of the ledger are read as one.
    async fn block_of(&mut self, seq: Seq, most: u32) -> Result<Arc<Block>, ledger::Error> {
        let kept = self.kept.range(..=seq).next_back().map(|(_, block)| block);
        let known = self.last.iter().chain(kept).find(|block| block.place_of(seq).is_some());
        match known {
            Some(block) => Ok(Arc::clone(block)),
            None => self.load(seq, most).await,
        }
    }

    /// Records before that one have had all their rows, as far as can be told.
    fn forget_before(&mut self, seq: Seq) {
        while let Some(block) = self.kept.first_entry().filter(|block| block.get().end() <= seq) {
            self.kept_bytes -= block.remove().bytes();
        }
    }

    async fn load(&mut self, seq: Seq, most: u32) -> Result<Arc<Block>, ledger::Error> {
        let missing = || ledger::Error::Corrupt(format!("run {} has no record {seq}", self.run));
        let heads = self.ledger.record_heads_of(self.run, seq, most).await?;
        let (first, last) = heads.first().zip(heads.last()).ok_or_else(missing)?;
        let range = first.first..=last.last();
        let noted = self.ledger.stretch(self.run, range.clone()).await?;
        let resolutions = self.ledger.resolutions(self.run, range).await?;
        let block = Arc::new(together(&heads, noted, resolutions)?);
        let bytes = block.bytes();
        if self.kept_bytes + bytes <= self.room {
            self.kept_bytes += bytes;
            self.kept.insert(block.first, Arc::clone(&block));
        } else {
            self.last = Some(Arc::clone(&block));
            self.is_crowded = true;
        }
        Ok(block)
    }
}

/// `heads` are of blocks that follow each other.
fn together(heads: &[RecordHeads], noted: Stretch, resolutions: Vec<Resolution>) -> Result<Block, ledger::Error> {
    let first = heads.first().map_or(0, |heads| heads.first);
    let mut outcomes: Vec<Option<Noted>> = vec![None; heads.iter().map(RecordHeads::len).sum()];
    for noted in noted.outcomes() {
        let noted = noted?;
        let place = usize::try_from(noted.seq - first).ok();
        if let Some(outcome) = place.and_then(|place| outcomes.get_mut(place)) {
            *outcome = Some(noted);
        }
    }
    let mut resolutions: BTreeMap<Seq, Resolution> =
        resolutions.into_iter().map(|resolution| (resolution.seq, resolution)).collect();
    let mut names = String::new();
    let mut entries = Vec::with_capacity(outcomes.len());
    for ((seq, outcome), head) in (first..).zip(outcomes).zip(heads.iter().flat_map(RecordHeads::records)) {
        let head = head?;
        let mut entry = match outcome {
            Some(noted) => Entry {
                state: state(noted.state),
                http_status: noted.http_status,
                attempts: noted.attempts,
                service_id: noted.service_id,
                ctx_id: noted.ctx_id,
                job_id: noted.job_id,
                trouble: None,
            },
            None => planned(&head, noted.len(), &mut names),
        };
        let mut problems = match outcome {
            Some(noted_here) => noted.problems(&noted_here)?,
            None => head.fate.problems()?,
        };
        if let Some(resolution) = resolutions.remove(&seq).filter(|_| outcome.is_some()) {
            entry.state = state(resolution.state);
            problems.push(resolution.problem());
        }
        if !problems.is_empty() {
            let RecordHead { key, rows, sheet, .. } = head;
            let (key, rows, sheet) = (key.map(str::to_owned), rows.into_owned(), sheet.to_owned());
            entry.trouble = Some(Box::new(Trouble { problems, key, rows, sheet }));
        }
        entries.push(entry);
    }
    let mut text = noted.into_text();
    text.push_str(&names);
    text.shrink_to_fit();
    Ok(Block { first, text, entries })
}

/// A record that nothing was noted of. What the service calls it goes to `names`, which follow `before` bytes of text.
fn planned(head: &RecordHead<'_>, before: usize, names: &mut String) -> Entry {
    let mut service_id = Span::MISSING;
    let state = match &head.fate {
        HeadFate::Send(_) => RecordState::Pending,
        HeadFate::Rejected(_) => RecordState::Rejected,
        HeadFate::Skipped => RecordState::Skipped,
        HeadFate::Kept(kept) => {
            if let Some(name) = &kept.service_id {
                service_id = Span::new(before + names.len(), name.len());
                names.push_str(name);
            }
            RecordState::Unchanged
        }
    };
    let (ctx_id, job_id) = (Span::MISSING, Span::MISSING);
    Entry { state, http_status: None, attempts: 0, service_id, ctx_id, job_id, trouble: None }
}

fn state(noted: OutcomeState) -> RecordState {
    match noted {
        OutcomeState::Sent => RecordState::Sent,
        OutcomeState::Unchanged => RecordState::Unchanged,
        OutcomeState::Rejected => RecordState::Rejected,
        OutcomeState::Skipped => RecordState::Skipped,
        OutcomeState::Failed => RecordState::Failed,
        OutcomeState::Unknown => RecordState::Unknown,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ledger::{Fate, NewRun, PlannedRecord};

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
                    for (seq, found) in window.iter().zip(found.iter()) {
                        let said = found.problems().first().map(|problem| problem.message.clone());
                        assert_eq!(said, (seq % 3 == 0).then(|| seq.to_string()));
                    }
                    assert!(outcomes.kept_bytes <= room);
                    assert_eq!(outcomes.kept_bytes, outcomes.kept.values().map(|block| block.bytes()).sum::<usize>());
                }
                // In order, what is behind is let go.
                assert!(seqs == &scattered || outcomes.kept.keys().all(|first| *first >= 1_024));
            }
        }
        assert!(Outcomes::new(&ledger, run).of_all(&[RECORDS]).await.is_err());
    }
}
