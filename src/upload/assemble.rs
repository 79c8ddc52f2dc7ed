//! Mapped rows to planned records, in the sheet's order: rows of one record are put together, and records with the same
//! key are found.

use std::collections::{HashMap, VecDeque};

use serde::de::IgnoredAny;

use super::error::Error;
use super::keys::{self, Earlier, Keys};
use super::retry::{Asked, Past, Reviewer};
use super::rows::{MadeRow, problem};
use super::source::Source;
use super::tally::Tally;
use crate::ledger::{AcceptedEarlier, Disposition, Origin, PlannedRecord, Problem, RecordState, Seq, SourceRow};
use crate::template::map::{Parts, unquoted};
use crate::template::model::{Duplicates, GroupRows};
use crate::template::{Cause, Mapper, Template};

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
    pub late: Vec<(Seq, RecordState, Problem)>,
}

pub(super) struct Assembler<'t> {
    source: &'t Source,
    template: &'t Template,
    /// One for each of the source's parts.
    mappers: &'t [Mapper<'t>],
    /// For each part that was begun, the first record that began in it.
    parts: Vec<Seq>,
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
    most_held: usize,
    keys: Keys,
    /// For a report that is handed back.
    reviewer: Option<Reviewer<'t>>,
    batch: Batch,
    pub tally: Tally,
}

enum Waiting {
    Open {
        parts: Parts,
        problems: Vec<Problem>,
        /// What is known of its rows, where a report is handed back.
        pasts: Vec<Past>,
    },
    Whole(Record),
}

/// A record that nothing more comes to.
struct Record {
    /// Empty: nothing identifies it.
    key: String,
    target: String,
    rows: Rows,
    decision: Decision,
    /// Empty where records are not wanted.
    body: Vec<u8>,
}

/// The rows that make a record: mostly one.
enum Rows {
    One(u64),
    Several(Vec<u64>),
}

/// What is decided about a record.
pub(super) enum Decision {
    Send,
    Skip,
    Reject(Vec<Problem>),
    /// An earlier run sent it.
    Keep(AcceptedEarlier),
}

impl<'t> Assembler<'t> {
    /// `mappers` has one for each of the source's parts.
    pub fn new(source: &'t Source, template: &'t Template, mappers: &'t [Mapper<'t>], keeps: bool) -> Assembler<'t> {
        Assembler {
            source,
            template,
            mappers,
            parts: Vec::new(),
            keeps,
            waiting: VecDeque::new(),
            first_waiting: 0,
            groups: HashMap::new(),
            closed: HashMap::new(),
            last_group: None,
            held: 0,
            most_held: MOST_HELD,
            keys: Keys::default(),
            reviewer: Reviewer::new(source, template.record.input()),
            batch: Batch::default(),
            tally: Tally::default(),
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
        if self.parts.len() <= row.part {
            self.parts.resize(row.part + 1, next);
        }
        if let (Some(reviewer), Some(past)) = (&mut self.reviewer, &mut row.past) {
            row.problems.extend(reviewer.meet(past));
        }
        let seq = match &self.template.group {
            Some(group) if !row.draft.is_skipped => self.group(row, group.rows, group.blank_is_above, next)?,
            _ if self.waiting.is_empty() && !self.keeps => {
                // Only the decision counts, and the row keeps its buffers.
                self.first_waiting += 1;
                let decision = self.decide_row(row);
                self.judge(next, &row.key, row.number, decision);
                next
            }
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
            let cells = std::mem::take(&mut row.cells);
            let sheet = self.sheet(row.part);
            let origin = match (&self.reviewer, &row.past) {
                (Some(reviewer), Some(past)) => reviewer.origin(past, &sheet),
                _ => Origin::Same,
            };
            self.batch.rows.push(SourceRow { number: row.number, seq, cells, sheet, origin });
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
                Waiting::Open { parts, problems, pasts } => self.close(seq, parts, problems, &pasts),
            };
            self.hand_on(seq, record);
        }
    }

    /// A row that is a record of its own. It was finished where it was mapped.
    fn single(&mut self, row: &mut MadeRow) -> Record {
        let decision = self.decide_row(row);
        let body = if self.keeps { std::mem::take(&mut row.body) } else { Vec::new() };
        let (key, target) = (std::mem::take(&mut row.key), std::mem::take(&mut row.target));
        Record { key, target, rows: Rows::One(row.number), decision, body }
    }

    fn decide_row(&mut self, row: &mut MadeRow) -> Decision {
        let decision = match row.draft.is_skipped {
            true => Decision::Skip,
            false => self.decide(&mut row.draft.parts, std::mem::take(&mut row.problems)),
        };
        let asked = Asked { key: &row.key, target: &row.target, body: &row.body };
        self.review(decision, row.past.as_slice(), &asked)
    }

    /// The decision in view of what earlier runs made of the record's rows.
    fn review(&mut self, decision: Decision, pasts: &[Past], asked: &Asked<'_>) -> Decision {
        let Some(reviewer) = &self.reviewer else { return decision };
        let decision = reviewer.review(decision, pasts, asked);
        self.tally.look_back(matches!(decision, Decision::Keep(_)), pasts);
        decision
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
            let mut more = 0;
            if let Some(Waiting::Open { parts, problems, pasts }) = self.waiting.get_mut(index) {
                if let (Some(reviewer), Some(past)) = (&self.reviewer, row.past) {
                    let first = pasts.first().filter(|_| name.is_empty());
                    problems.extend(first.and_then(|first| reviewer.strayed(&past, first)));
                    pasts.push(past);
                }
                let told = parts.problems.len();
                let before = parts.len_from(told);
                if let Some(mapper) = self.mappers.get(row.part) {
                    mapper.merge(parts, &row.draft.parts);
                }
                more = parts.len_from(told).saturating_sub(before) + held(&row.problems);
                problems.append(&mut row.problems);
            }
            self.hold(more, row.number)?;
            if !name.is_empty() && self.last_group.as_ref().is_none_or(|(_, last)| *last != seq) {
                self.last_group = Some((name.into(), seq));
            }
            return Ok(seq);
        }
        if name.is_empty() {
            // Among the record's own problems, so that its missing name is not told twice.
            if let Some(mapper) = self.mappers.get(row.part) {
                row.draft.parts.problems.push(mapper.group_problem(row.number, "", Cause::NoGroup));
            }
        } else if stand == GroupRows::Together {
            self.close_last(next);
            if let Some(first_row) = self.closed.get(name).copied() {
                row.problems.extend(self.group_problem(row, Cause::Scattered { first_row }));
            }
        } else {
            self.groups.insert(name.into(), next);
        }
        // A name is held for as long as the pass goes on, also that of a record which is whole.
        let name_len = name.len();
        if !name.is_empty() {
            self.last_group = Some((name.into(), next));
        }
        let parts = row.draft.parts.kept();
        self.hold(name_len + parts.len() + held(&row.problems) + OVERHEAD, row.number)?;
        let (problems, pasts) = (std::mem::take(&mut row.problems), row.past.into_iter().collect());
        self.waiting.push_back(Waiting::Open { parts, problems, pasts });
        Ok(next)
    }

    fn hold(&mut self, bytes: usize, row: u64) -> Result<(), Error> {
        self.held += bytes;
        if self.held > self.most_held { Err(Error::TooScattered { row }) } else { Ok(()) }
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

    fn close(&mut self, seq: Seq, mut parts: Parts, problems: Vec<Problem>, pasts: &[Past]) -> Record {
        self.held = self.held.saturating_sub(parts.len() + held(&problems) + OVERHEAD);
        let mut body = Vec::new();
        let text = |json: Option<&str>| json.map_or_else(String::new, |json| unquoted(json).into_owned());
        let (key, target) = match self.mapper(seq) {
            Some(mapper) => {
                let names = mapper.finish(&mut parts);
                let names = (text(names.key), text(names.target));
                if self.keeps && parts.problems.is_empty() {
                    mapper.body(&parts, &mut body);
                }
                names
            }
            None => (String::new(), String::new()),
        };
        let decision = self.decide(&mut parts, problems);
        let decision = self.review(decision, pasts, &Asked { key: &key, target: &target, body: &body });
        Record { key, target, rows: Rows::Several(parts.rows), decision, body }
    }

    /// The part in which a record began.
    fn part(&self, seq: Seq) -> usize {
        self.parts.partition_point(|first| *first <= seq).saturating_sub(1)
    }

    /// What the ledger calls a part's sheet.
    fn sheet(&self, part: usize) -> String {
        self.source.parts.get(part).map_or_else(String::new, |part| self.source.sheet_of(part))
    }

    fn mapper(&self, seq: Seq) -> Option<&'t Mapper<'t>> {
        self.mappers.get(self.part(seq))
    }

    fn group_problem(&self, row: &MadeRow, cause: Cause) -> Option<Problem> {
        let mapper = self.mappers.get(row.part)?;
        Some(problem(mapper.group_problem(row.number, &row.draft.group, cause), self.source))
    }

    /// The problem of a record whose key `other` has, too.
    fn same_key(&self, seq: Seq, row: u64, key: &str, cause: Cause, other: Seq) -> Option<Problem> {
        let mut problem = problem(self.mapper(seq)?.same_key(row, key, cause), self.source);
        let part = self.part(other);
        if part != self.part(seq)
            && let Some(part) = self.source.parts.get(part)
        {
            problem.remedy.push_str(&format!(" of the sheet '{}'", self.source.name_of(part)));
        }
        Some(problem)
    }

    /// What is decided about a whole record: with any problem it is not sent.
    fn decide(&self, parts: &mut Parts, more: Vec<Problem>) -> Decision {
        if parts.problems.is_empty() && more.is_empty() {
            return Decision::Send;
        }
        let found = std::mem::take(&mut parts.problems);
        let mut problems: Vec<Problem> = found.into_iter().map(|found| problem(found, self.source)).collect();
        problems.extend(more);
        problems.sort_by_key(|problem| problem.row);
        Decision::Reject(problems)
    }

    /// Hands a record on, in its order.
    fn hand_on(&mut self, seq: Seq, record: Record) {
        let Record { key, target, rows, decision, body } = record;
        let row = match &rows {
            Rows::One(row) => *row,
            Rows::Several(rows) => rows.first().copied().unwrap_or_default(),
        };
        let decision = self.judge(seq, &key, row, decision);
        if self.keeps {
            let sheet = self.sheet(self.part(seq));
            let rows = match rows {
                Rows::One(row) => vec![row],
                Rows::Several(rows) => rows,
            };
            let disposition = match decision {
                Decision::Send => send(body),
                Decision::Skip => Disposition::Skipped,
                Decision::Reject(problems) => Disposition::Rejected(problems),
                Decision::Keep(kept) => Disposition::AcceptedEarlier(kept),
            };
            let named = |name: String| (!name.is_empty()).then_some(name);
            self.batch.records.push(PlannedRecord { key: named(key), target: named(target), rows, disposition, sheet });
        }
    }

    /// Decides in the light of the records before it: whether it is wanted, and whether its key was there. Counts it.
    fn judge(&mut self, seq: Seq, key: &str, row: u64, mut decision: Decision) -> Decision {
        if self.source.chosen.is_some_and(|(first, last)| !(first..=last).contains(&row)) {
            decision = Decision::Skip;
        }
        let mut superseded = None;
        if !key.is_empty() && !matches!(decision, Decision::Skip) {
            let duplicates = self.template.duplicates;
            let is_to_be_sent = matches!(decision, Decision::Send);
            let replaces = duplicates == Duplicates::Last;
            if let Some(earlier) = self.keys.meet(key, seq, row, is_to_be_sent, replaces) {
                let late = |cause| self.same_key(earlier.seq, earlier.row, key, cause, seq);
                let here = |cause| self.same_key(seq, row, key, cause, earlier.seq);
                match duplicates {
                    Duplicates::Error => {
                        let taken_back = late(Cause::Duplicate { other_row: row }).filter(|_| earlier.is_to_be_sent);
                        decision = decision.rejected(here(Cause::Duplicate { other_row: earlier.row }));
                        if let Some(problem) = taken_back {
                            self.keys.take_back(key);
                            self.take_back(earlier, RecordState::Rejected, problem);
                        }
                    }
                    Duplicates::Last => {
                        let cause = Cause::Superseded { by_row: row };
                        if let Some(problem) = late(cause).filter(|_| earlier.is_to_be_sent) {
                            self.take_back(earlier, RecordState::Skipped, problem);
                        }
                    }
                    Duplicates::First if is_to_be_sent => {
                        superseded = here(Cause::Superseded { by_row: earlier.row });
                    }
                    Duplicates::First => {}
                }
            }
        }
        match &decision {
            Decision::Send => self.tally.to_send += 1,
            Decision::Skip => self.tally.skipped += 1,
            Decision::Reject(problems) => self.tally.reject(problems),
            Decision::Keep(_) => self.tally.kept += 1,
        }
        if let Some(problem) = superseded {
            self.take_back(Earlier { seq, row, is_to_be_sent: true }, RecordState::Skipped, problem);
        }
        decision
    }

    fn take_back(&mut self, record: Earlier, state: RecordState, problem: Problem) {
        self.tally.take_back(record.row, state, &problem);
        self.batch.late.push((record.seq, state, problem));
    }
}

impl Decision {
    pub(super) fn rejected(self, problem: Option<Problem>) -> Decision {
        match (self, problem) {
            (Decision::Send, Some(problem)) => Decision::Reject(vec![problem]),
            (Decision::Reject(mut problems), problem) => {
                problems.extend(problem);
                Decision::Reject(problems)
            }
            (decision, _) => decision,
        }
    }
}

fn held(problems: &[Problem]) -> usize {
    problems.iter().map(|problem| OVERHEAD + problem.value.len()).sum()
}

fn send(body: Vec<u8>) -> Disposition {
    let json = String::from_utf8(body).map_err(|error| error.to_string());
    let checked = json.and_then(|json| match serde_json::from_str::<IgnoredAny>(&json) {
        Ok(_) => Ok(json.into_boxed_str()),
        Err(error) => Err(error.to_string()),
    });
    match checked {
        Ok(body) => Disposition::Send(body),
        Err(error) => Disposition::Rejected(vec![Problem {
            remedy: "this is a fault of sheetport; please report it".to_owned(),
            ..Problem::of_record("unsendable", format!("can't be written as JSON: {error}"))
        }]),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::read::survey;
    use super::super::rows::{ReadRow, make};
    use super::*;
    use crate::{sheet, template::load};

    const LONG: usize = 10_000;

    /// The row at which the records are more than can be held, if as much can be held as ten rows have of text.
    fn refused_at(group: &str, columns: &str, each: impl Fn(usize) -> String) -> Option<u64> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("orders.csv");
        let mut text = format!("{columns}\n");
        (0..50).for_each(|row| writeln!(text, "{}", each(row)).expect("a text"));
        std::fs::write(&path, text).expect("a file");
        let rules = "[fields.externalId]\ncolumn = \"No\"\n[lines.itemExternalId]\ncolumn = \"SKU\"\n\
                     [lines.quantity]\ncolumn = \"Qty\"\n[lines.item_id]\ncolumn = \"Note\"\noptional = true\n";
        let source = format!("record = \"order\"\n[sheet]\nfill_down = [\"Note\"]\n[group]\n{group}\n{rules}");
        let template = load::load("t.toml", &source, &load::no_tables).expect("a template");
        let source = Source::open(&path, &template, None, &sheet::Options::default()).expect("a sheet");
        let surveys = survey(&source, &template).expect("a survey");
        let mapper = Mapper::new(0, &template, &source.parts[0].layout, &surveys[0]);
        let mappers = [mapper];
        let mut assembler = Assembler { most_held: 10 * LONG, ..Assembler::new(&source, &template, &mappers, false) };
        let (mut rows, mut read, mut made) = (source.rows(), ReadRow::default(), MadeRow::default());
        while rows.next(&mut read.row).expect("a row").is_some() {
            make(&mappers[0], &source, &source.parts[0], &read, false, &mut made);
            match assembler.row(&mut made) {
                Ok(()) => {}
                Err(Error::TooScattered { row }) => return Some(row),
                Err(error) => panic!("{error}"),
            }
        }
        None
    }

    #[test]
    fn whatever_is_held_of_records_is_bounded() {
        let long = "x".repeat(LONG);
        let note = |row: usize| if row == 0 { long.clone() } else { String::new() };
        let (anywhere, together) = ("by = \"No\"", "by = \"No\"\nrows = \"together\"");
        let columns = "No,SKU,Qty,Note";
        for group in [anywhere, together] {
            assert_eq!(refused_at(group, columns, |row| format!("A,s{row},1,{}", note(row))), Some(11), "one record");
        }
        assert_eq!(refused_at(anywhere, columns, |row| format!("{row},s,1,{}", note(row))), Some(11), "many records");
        assert_eq!(
            refused_at(together, columns, |row| format!("{row},s,1,{}", note(row))),
            None,
            "one after the other"
        );
        // What is wrong with rows is held as well, and so are names, even of records that are whole.
        assert_eq!(refused_at(anywhere, columns, |row| format!("A,s{row},{long},")), Some(11), "problems");
        for (group, row) in [(anywhere, 6), (together, 10)] {
            let group = group.replace("\"No\"", "[\"Note\", \"No\"]");
            assert_eq!(refused_at(&group, columns, |row| format!("{row},s,1,{}", note(row))), Some(row), "{group}");
        }
    }
}
