//! Mapped rows to planned records, in the sheet's order: rows of one record are put together, and records with the same
//! key are found.

use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;

use super::error::Error;
use super::keys::{self, Keys};
use super::rows::{MadeRow, problem};
use super::tally::Tally;
use crate::ledger::{Fate, OutcomeState, PlannedRecord, Problem, Seq, SourceRow};
use crate::template::map::{Parts, unquoted};
use crate::template::model::{Duplicates, GroupRows};
use crate::template::{Cause, Mapper};

/// Records whose rows may stand anywhere are held until the sheet's end, up to this many bytes.
const MOST_HELD: usize = 1 << 30;
/// What a held record costs beside what it holds.
const OVERHEAD: usize = 200;

/// A stretch of a sheet, mapped.
#[derive(Debug, Default)]
pub struct Batch {
    /// How many rows were read for it.
    pub read: u64,
    pub rows: Vec<SourceRow>,
    pub records: Vec<PlannedRecord>,
    /// Records of earlier batches that are not sent after all.
    pub late: Vec<(Seq, OutcomeState, Problem)>,
}

pub(super) struct Assembler<'t> {
    mapper: Mapper<'t>,
    /// Whether rows and records are wanted, or only their number.
    keeps: bool,
    /// Records in their order, from the first that is not whole yet.
    waiting: VecDeque<Waiting>,
    first_waiting: Seq,
    groups: HashMap<Box<str>, Seq>,
    /// Names of records that are whole and the rows they began on, where the rows of a record stand together.
    closed: HashMap<Box<str>, u64>,
    last_group: Option<(Box<str>, Seq)>,
    held: usize,
    keys: Keys,
    batch: Batch,
    body: Vec<u8>,
    pub tally: Tally,
    /// Records that begin on other rows are skipped.
    pub chosen: Option<(u64, u64)>,
}

enum Waiting {
    Open { parts: Parts, problems: Vec<Problem> },
    Whole(Record),
}

/// A record that nothing more comes to.
struct Record {
    key: Option<String>,
    target: Option<String>,
    rows: Vec<u64>,
    fate: Fate,
}

impl<'t> Assembler<'t> {
    pub fn new(mapper: Mapper<'t>, keeps: bool) -> Assembler<'t> {
        Assembler {
            mapper,
            keeps,
            waiting: VecDeque::new(),
            first_waiting: 0,
            groups: HashMap::new(),
            closed: HashMap::new(),
            last_group: None,
            held: 0,
            keys: Keys::default(),
            batch: Batch::default(),
            body: Vec::new(),
            tally: Tally::default(),
            chosen: None,
        }
    }

    /// Takes the next row in.
    pub fn row(&mut self, row: &mut MadeRow) -> Result<(), Error> {
        self.tally.rows += 1;
        self.batch.read += 1;
        let next = self.first_waiting + self.waiting.len() as Seq;
        if row.number > keys::MOST || self.tally.rows > keys::MOST {
            return Err(Error::TooManyRows { most: keys::MOST });
        }
        let seq = match &self.mapper.template().group {
            Some(group) if !row.draft.is_skipped => self.group(row, group.rows, group.blank_is_above, next)?,
            _ => {
                let record = self.single(row);
                match self.waiting.is_empty() {
                    true => {
                        self.first_waiting += 1;
                        self.hand_on(next, record);
                    }
                    false => self.waiting.push_back(Waiting::Whole(record)),
                }
                next
            }
        };
        if self.keeps {
            let cells = row.cells.take().unwrap_or_else(|| RawValue::NULL.to_owned());
            self.batch.rows.push(SourceRow { number: row.number, seq, cells });
        }
        Ok(())
    }

    /// What was made since this was asked last.
    pub fn take_batch(&mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }

    /// No more rows come: every record is whole.
    pub fn end(&mut self) {
        while let Some(waiting) = self.waiting.pop_front() {
            let seq = self.first_waiting;
            self.first_waiting += 1;
            let record = match waiting {
                Waiting::Whole(record) => record,
                Waiting::Open { parts, problems } => self.close(parts, problems),
            };
            self.hand_on(seq, record);
        }
    }

    /// A row that is a record of its own. It was finished where it was mapped.
    fn single(&self, row: &mut MadeRow) -> Record {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let fate = match row.draft.is_skipped {
            true => Fate::Skipped,
            false => fate(&mut row.draft.parts, std::mem::take(&mut row.problems), &row.body, self.keeps),
        };
        Record { key: text(&row.key), target: text(&row.target), rows: vec![row.number], fate }
    }

    /// The record that a row belongs to, which takes the row in.
    fn group(&mut self, row: &mut MadeRow, stand: GroupRows, blank_is_above: bool, next: Seq) -> Result<Seq, Error> {
        let name = row.draft.group.as_str();
        let known = match &self.last_group {
            Some((last, seq)) if **last == *name || name.is_empty() && blank_is_above => Some(*seq),
            _ => self.groups.get(name).copied(),
        };
        if let Some(seq) = known {
            let index = usize::try_from(seq - self.first_waiting).unwrap_or(usize::MAX);
            if let Some(Waiting::Open { parts, problems }) = self.waiting.get_mut(index) {
                let before = parts.len();
                self.mapper.merge(parts, &row.draft.parts);
                problems.append(&mut row.problems);
                self.held += parts.len() - before.min(parts.len());
            }
            if self.held > MOST_HELD {
                return Err(Error::TooScattered { row: row.number });
            }
            if !name.is_empty() && self.last_group.as_ref().is_none_or(|(_, last)| *last != seq) {
                self.last_group = Some((name.into(), seq));
            }
            return Ok(seq);
        }
        if name.is_empty() {
            row.problems.push(problem(self.mapper.group_problem(row.number, "", Cause::NoGroup)));
        } else if stand == GroupRows::Together {
            self.close_last(next);
            if let Some(first_row) = self.closed.get(name).copied() {
                let cause = Cause::Scattered { first_row };
                row.problems.push(problem(self.mapper.group_problem(row.number, name, cause)));
            }
        } else {
            self.groups.insert(name.into(), next);
        }
        if !name.is_empty() {
            self.last_group = Some((name.into(), next));
        }
        let parts = row.draft.parts.kept();
        self.held += parts.len() + OVERHEAD;
        self.waiting.push_back(Waiting::Open { parts, problems: std::mem::take(&mut row.problems) });
        Ok(next)
    }

    /// Where the rows of a record stand together, another record's row ends all before it.
    fn close_last(&mut self, next: Seq) {
        if let Some((last, seq)) = self.last_group.take() {
            let index = usize::try_from(seq - self.first_waiting).unwrap_or(usize::MAX);
            if let Some(Waiting::Open { parts, .. }) = self.waiting.get(index) {
                self.closed.entry(last).or_insert(parts.first_row());
            }
        }
        self.end();
        debug_assert_eq!(self.first_waiting, next, "all that waited was handed on");
    }

    fn close(&mut self, mut parts: Parts, problems: Vec<Problem>) -> Record {
        self.held = self.held.saturating_sub(parts.len() + OVERHEAD);
        self.body.clear();
        let names = self.mapper.finish(&mut parts, &mut self.body);
        let text = |json: Option<&str>| json.map(|json| unquoted(json).into_owned());
        let (key, target) = (text(names.key), text(names.target));
        let fate = fate(&mut parts, problems, &self.body, self.keeps);
        Record { key, target, rows: parts.rows, fate }
    }

    /// Hands a record on, in its order, once it is known whether its key was there before.
    fn hand_on(&mut self, seq: Seq, record: Record) {
        let Record { key, target, rows, mut fate } = record;
        let row = rows.first().copied().unwrap_or_default();
        if self.chosen.is_some_and(|(first, last)| !(first..=last).contains(&row)) {
            fate = Fate::Skipped;
        }
        let mut superseded = None;
        if let Some(key) = key.as_deref().filter(|_| !matches!(fate, Fate::Skipped)) {
            let duplicates = self.mapper.template().duplicates;
            let is_to_be_sent = matches!(fate, Fate::Send(_));
            let replaces = duplicates == Duplicates::Last;
            if let Some(earlier) = self.keys.meet(key, seq, row, is_to_be_sent, replaces) {
                let same_key = |row, cause| problem(self.mapper.same_key(row, key, cause));
                match duplicates {
                    Duplicates::Error => {
                        if earlier.is_to_be_sent {
                            let cause = Cause::Duplicate { other_row: row };
                            let late = same_key(earlier.row, cause);
                            self.tally.take_back(earlier.row, OutcomeState::Rejected, &late);
                            self.batch.late.push((earlier.seq, OutcomeState::Rejected, late));
                            self.keys.take_back(key);
                        }
                        fate = reject(fate, same_key(row, Cause::Duplicate { other_row: earlier.row }));
                    }
                    Duplicates::Last => {
                        if earlier.is_to_be_sent {
                            let late = same_key(earlier.row, Cause::Superseded { by_row: row });
                            self.tally.take_back(earlier.row, OutcomeState::Skipped, &late);
                            self.batch.late.push((earlier.seq, OutcomeState::Skipped, late));
                        }
                    }
                    Duplicates::First if is_to_be_sent => {
                        superseded = Some(same_key(row, Cause::Superseded { by_row: earlier.row }));
                    }
                    Duplicates::First => {}
                }
            }
        }
        self.tally.count(&fate);
        if let Some(problem) = superseded {
            self.tally.take_back(row, OutcomeState::Skipped, &problem);
            self.batch.late.push((seq, OutcomeState::Skipped, problem));
        }
        if self.keeps {
            self.batch.records.push(PlannedRecord { key, target, rows, fate });
        }
    }
}

/// What is decided about a whole record: with any problem it is not sent.
fn fate(parts: &mut Parts, more: Vec<Problem>, body: &[u8], keeps: bool) -> Fate {
    if parts.problems.is_empty() && more.is_empty() {
        return if keeps { send(body) } else { Fate::Send(RawValue::NULL.to_owned()) };
    }
    let mut problems: Vec<Problem> = std::mem::take(&mut parts.problems).into_iter().map(problem).collect();
    problems.extend(more);
    problems.sort_by_key(|problem| problem.row);
    Fate::Rejected(problems)
}

fn send(body: &[u8]) -> Fate {
    let json = String::from_utf8(body.to_vec()).map_err(|error| error.to_string());
    match json.and_then(|json| RawValue::from_string(json).map_err(|error| error.to_string())) {
        Ok(body) => Fate::Send(body),
        Err(error) => Fate::Rejected(vec![Problem {
            code: "unsendable".to_owned(),
            row: None,
            column: None,
            header: String::new(),
            field: String::new(),
            value: String::new(),
            message: format!("can't be written as JSON: {error}"),
            remedy: "this is a fault of sheetport; please report it".to_owned(),
        }]),
    }
}

fn reject(fate: Fate, problem: Problem) -> Fate {
    let mut problems = match fate {
        Fate::Skipped => return Fate::Skipped,
        Fate::Rejected(problems) => problems,
        Fate::Send(_) => Vec::new(),
    };
    problems.push(problem);
    Fate::Rejected(problems)
}
