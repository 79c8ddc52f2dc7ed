//! What became of each record: its plan and its outcome, brought together block by block.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ledger::{self, BLOCK_LEN, Disposition, Ledger, Outcome, Problem, RecordBlock, RecordState, RunId, Seq};

/// What became of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordOutcome<'a> {
    entry: &'a Entry,
}

/// What became of the records of a block. There may be a million of them in memory, so their texts lie in one.
#[derive(Debug)]
pub(super) struct Block {
    first: Seq,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    state: RecordState,
    http_status: Option<u16>,
    attempts: u32,
    service_id: Option<Box<str>>,
    ctx_id: Option<Box<str>>,
    job_id: Option<Box<str>>,
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
        self.places
            .iter()
            .map(|(block, entry)| RecordOutcome { entry: &self.blocks[*block as usize].entries[*entry as usize] })
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
        size_of::<Block>() + self.entries.iter().map(Entry::bytes).sum::<usize>()
    }
}

impl Entry {
    /// As much as it may take in memory.
    fn bytes(&self) -> usize {
        const ALLOCATION: usize = 16;
        let ids = [&self.service_id, &self.ctx_id, &self.job_id].into_iter().flatten();
        let trouble = self.trouble.as_deref().map_or(0, Trouble::bytes);
        size_of::<Entry>() + ids.map(|id| id.len() + ALLOCATION).sum::<usize>() + trouble
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
        self.entry.service_id.as_deref()
    }

    pub fn ctx_id(self) -> Option<&'a str> {
        self.entry.ctx_id.as_deref()
    }

    pub fn job_id(self) -> Option<&'a str> {
        self.entry.job_id.as_deref()
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
        let records = self.ledger.records_without_bodies(self.run, seq, most).await?.ok_or_else(missing)?;
        let outcomes = self.ledger.outcomes(self.run, records.first..=records.end() - 1).await?;
        let block = Arc::new(together(records, outcomes));
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

fn together(records: RecordBlock<()>, mut outcomes: BTreeMap<Seq, Outcome>) -> Block {
    let first = records.first;
    let entries = (first..).zip(records.records).map(|(seq, record)| {
        let state = record.disposition.state();
        let (outcome, problems, service_id) = match (outcomes.remove(&seq), record.disposition) {
            (Some(outcome), _) => (Some(outcome), Vec::new(), None),
            (None, Disposition::Rejected(problems)) => (None, problems, None),
            (None, Disposition::AcceptedEarlier(earlier)) => (None, Vec::new(), earlier.service_id),
            (None, Disposition::Send(()) | Disposition::Skipped) => (None, Vec::new(), None),
        };
        let planned = Outcome { problems, service_id, ..Outcome::new(seq, state, 0) };
        let outcome = outcome.unwrap_or(planned);
        let trouble = (!outcome.problems.is_empty()).then(|| {
            let (key, rows, sheet) = (record.key, record.rows, record.sheet);
            Box::new(Trouble { problems: outcome.problems, key, rows, sheet })
        });
        Entry {
            state: outcome.state,
            http_status: outcome.http_status,
            attempts: outcome.attempts,
            service_id: outcome.service_id.map(Box::from),
            ctx_id: outcome.ctx_id.map(Box::from),
            job_id: outcome.job_id.map(Box::from),
            trouble,
        }
    });
    Block { first, entries: entries.collect() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ledger::{NewRun, PlannedRecord, RunCommand, SheetSelection};
    use crate::records::RecordKind;

    const RECORDS: Seq = 2_000;

    fn about() -> NewRun {
        NewRun {
            command: RunCommand::Upload,
            record: RecordKind::Item,
            template: String::new(),
            template_toml: String::new(),
            file: String::new(),
            file_hash: String::new(),
            base_url: String::new(),
            workspace: String::new(),
            sheet: SheetSelection::One(String::new()),
            header: Vec::new(),
            header_row: 1,
            columns: Vec::new(),
            chosen: None,
            retry_of: None,
            options: Vec::new(),
        }
    }

    async fn planned(folder: &std::path::Path) -> (Ledger, RunId) {
        let ledger = Ledger::open(folder).await.unwrap();
        let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
        for seq in 0..RECORDS {
            let disposition = match seq % 3 {
                0 => Disposition::Rejected(vec![Problem::of_record("blank", seq.to_string())]),
                _ => Disposition::Skipped,
            };
            let key = Some(seq.to_string());
            let rows = vec![seq.unsigned_abs()];
            plan.add_record(PlannedRecord { key, target: None, rows, disposition, sheet: String::new() })
                .await
                .unwrap();
        }
        let run = plan.finish(0).await.unwrap();
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
