//! Assembling mapped rows into planned records, in the order of the sheet: merges the rows of a record, and finds
//! records with the same key.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::de::IgnoredAny;

use super::decision::Decision;
use super::keys::{self, KeyHolder, Keys};
use super::repeated::{RepeatedLines, repeated_record};
use super::row::{MappedRow, ledger_problem};
use super::source::Source;
use super::suspects::Suspects;
use super::waiting::{Incomplete, Record, Waiting};
use crate::ledger::{Disposition, Origin, PlannedRecord, Problem, RecordState, Seq, SourceRow};
use crate::template::map::{Parts, SEPARATOR, unquoted};
use crate::template::model::{Duplicates, GroupRows};
use crate::template::{Cause, Mapper, Template};
use crate::upload::error::Error;
use crate::upload::profile::Collector;
use crate::upload::retry::{RequestContext, Reviewer, RowHistory};
use crate::upload::sent_before::NAME_SEPARATOR;
use crate::upload::tally::Tally;

/// Maximum bytes of incomplete records. Records whose rows may be anywhere stay incomplete until the end of the sheet.
const MAX_HELD: usize = 1 << 30;
/// The memory for an incomplete record or a problem, in addition to the texts.
const OVERHEAD: usize = 200;

/// Part of a sheet, mapped.
#[derive(Debug, Default)]
pub struct Batch {
    /// Whether all earlier batches are void, because the sheet is read again.
    pub restarts: bool,
    /// The number of rows read.
    pub read: u64,
    pub rows: Vec<SourceRow>,
    pub records: Vec<PlannedRecord>,
    /// Records of earlier batches, no longer to be sent.
    pub withdrawn: Vec<Withdrawal>,
}

/// A planned record, withdrawn because another record has the same key.
#[derive(Debug)]
pub struct Withdrawal {
    pub seq: Seq,
    /// [`RecordState::Rejected`] or [`RecordState::Skipped`].
    pub state: RecordState,
    pub problem: Problem,
}

pub(super) struct Assembler<'t> {
    source: &'t Source,
    template: &'t Template,
    /// One mapper per part of the source.
    mappers: &'t [Mapper<'t>],
    /// The first record of each part read so far.
    parts: Vec<Seq>,
    /// Whether to produce rows and records instead of the tally alone.
    with_records: bool,
    /// Records in order, starting with the first incomplete record.
    waiting: VecDeque<Waiting>,
    first_waiting: Seq,
    groups: HashMap<Box<str>, Seq>,
    /// The first rows of complete records by group name, if the rows of a record stand together.
    closed: HashMap<Box<str>, u64>,
    last_group: Option<(Box<str>, Seq)>,
    held: usize,
    max_held: usize,
    keys: Keys,
    /// The values of fields that must be unique, by rule.
    unique: HashMap<usize, Keys>,
    suspects: Suspects,
    /// Records that are not to be sent because of such a field.
    settled: HashSet<Seq>,
    /// Bodies of records without a name that must not be created twice.
    bodies: Keys,
    /// Present if the file is a report.
    reviewer: Option<Reviewer<'t>>,
    batch: Batch,
    profile: Collector,
    pub tally: Tally,
}

impl<'t> Assembler<'t> {
    /// `mappers` has one mapper per part of the source.
    pub(super) fn new(
        source: &'t Source,
        template: &'t Template,
        mappers: &'t [Mapper<'t>],
        with_records: bool,
    ) -> Assembler<'t> {
        let sheets = || source.parts.iter().map(|part| source.sheet_of(part)).collect();
        let input = template.record.input();
        Assembler {
            source,
            template,
            mappers,
            parts: Vec::new(),
            with_records,
            waiting: VecDeque::new(),
            first_waiting: 0,
            groups: HashMap::new(),
            closed: HashMap::new(),
            last_group: None,
            held: 0,
            max_held: MAX_HELD,
            keys: Keys::default(),
            unique: HashMap::new(),
            suspects: Suspects::default(),
            settled: HashSet::new(),
            bodies: Keys::default(),
            reviewer: source.history.as_ref().map(|history| Reviewer::new(history, sheets(), input)),
            batch: Batch::default(),
            profile: Collector::new(template),
            tally: Tally::default(),
        }
    }

    /// Adds a warning about the file as a whole.
    pub(super) fn warn_of_file(&mut self, warning: Problem) {
        self.tally.warn_of_file(warning);
    }

    /// Adds the next row.
    ///
    /// # Errors
    /// [`Error::TooManyRows`] and [`Error::TooScattered`].
    pub(super) fn add(&mut self, row: &mut MappedRow) -> Result<(), Error> {
        self.tally.rows += 1;
        self.tally.width = self.tally.width.max(row.width);
        self.batch.read += 1;
        let next = self.first_waiting + self.waiting.len() as Seq;
        if row.number > keys::MAX_ROWS || self.tally.rows > keys::MAX_ROWS {
            return Err(Error::TooManyRows { most: keys::MAX_ROWS });
        }
        if self.parts.len() <= row.part {
            self.parts.resize(row.part + 1, next);
        }
        if let (Some(reviewer), Some(history)) = (&mut self.reviewer, &mut row.history) {
            row.problems.extend(reviewer.check_copy(history));
        }
        self.suspects.add(self.template, &self.mappers[row.part], self.source, row);
        let seq = match &self.template.group {
            Some(group) if !row.draft.is_skipped => self.add_to_group(row, group.rows, group.blank_is_above, next)?,
            _ => {
                let record = self.single(row);
                if self.waiting.is_empty() {
                    self.first_waiting += 1;
                    self.emit(next, record);
                } else {
                    self.waiting.push_back(Waiting::Complete(record));
                }
                next
            }
        };
        if self.with_records {
            let cells = std::mem::take(&mut row.cells);
            let sheet = self.source.sheet_of(&self.source.parts[row.part]);
            let origin = match (&self.reviewer, &row.history) {
                (Some(reviewer), Some(history)) => reviewer.origin(history, &sheet),
                _ => Origin::Same,
            };
            self.batch.rows.push(SourceRow { number: row.number, seq, cells, sheet, origin });
        }
        Ok(())
    }

    /// Returns the rows and records produced since the last call.
    pub(super) fn take_batch(&mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }

    /// Completes all records: there are no more rows.
    pub(super) fn finish(&mut self) {
        while let Some(waiting) = self.waiting.pop_front() {
            let seq = self.first_waiting;
            self.first_waiting += 1;
            let record = match waiting {
                Waiting::Complete(record) => record,
                Waiting::Incomplete(record) => self.complete(seq, record),
            };
            self.emit(seq, record);
        }
    }

    /// Returns the tally of all records.
    pub(super) fn into_tally(self) -> Tally {
        Tally { profile: self.profile.profile(), ..self.tally }
    }

    /// Returns the record of a row without a group.
    fn single(&mut self, row: &mut MappedRow) -> Record {
        let decision = if row.draft.is_skipped {
            Decision::Skip
        } else {
            self.decide(&mut row.draft.parts, std::mem::take(&mut row.problems))
        };
        let request = RequestContext { key: &row.key, target: &row.target, body: &row.body };
        let decision = self.review(decision, row.history.as_slice(), &request);
        if let Decision::Send = decision {
            self.profile.add(&self.mappers[row.part], &row.draft.parts);
        }
        let (key, target) = (std::mem::take(&mut row.key), std::mem::take(&mut row.target));
        let (unique, body) = (std::mem::take(&mut row.unique), std::mem::take(&mut row.body));
        let mut warnings = self.warnings(&mut row.draft.parts);
        warnings.append(&mut row.warnings);
        Record { key, name: String::new(), target, unique, rows: vec![row.number], decision, warnings, body }
    }

    /// Returns the decision after considering the histories of the record's rows.
    fn review(&mut self, decision: Decision, histories: &[RowHistory], request: &RequestContext<'_>) -> Decision {
        let Some(reviewer) = &self.reviewer else { return decision };
        let decision = reviewer.review(decision, histories, request);
        self.tally.count_histories(matches!(decision, Decision::AcceptedEarlier(_)), histories);
        decision
    }

    /// Adds a row to the record of the same group and returns the record.
    fn add_to_group(
        &mut self,
        row: &mut MappedRow,
        position: GroupRows,
        blank_is_above: bool,
        next: Seq,
    ) -> Result<Seq, Error> {
        let name = row.draft.group.as_str();
        let known = match &self.last_group {
            Some((last, seq)) if **last == *name || name.is_empty() && blank_is_above => Some(*seq),
            _ => self.groups.get(name).copied(),
        };
        if let Some(seq) = known {
            let index = self.waiting_index(seq);
            let mut added = 0;
            if let Some(Waiting::Incomplete(record)) = self.waiting.get_mut(index) {
                let Incomplete { parts, lines, problems, warnings, histories, .. } = record;
                if let (Some(reviewer), Some(history)) = (&self.reviewer, row.history) {
                    let first = histories.first().filter(|_| name.is_empty());
                    problems.extend(first.and_then(|first| reviewer.check_strayed(&history, first)));
                    histories.push(history);
                }
                let reported = parts.problems.len();
                let before = parts.len_from(reported);
                lines.add(row.draft.parts.lines_json(), row.number);
                self.mappers[row.part].merge(parts, &row.draft.parts);
                added = parts.len_from(reported).saturating_sub(before) + problem_bytes(&row.problems);
                added += problem_bytes(&row.warnings);
                problems.append(&mut row.problems);
                warnings.append(&mut row.warnings);
            }
            self.hold(added, row.number)?;
            if !name.is_empty() && self.last_group.as_ref().is_none_or(|(_, last)| *last != seq) {
                self.last_group = Some((name.into(), seq));
            }
            return Ok(seq);
        }
        if name.is_empty() {
            self.reject_record_above(row);
            // Among the problems of the draft, to avoid reporting the missing key as well.
            let problem = self.mappers[row.part].group_problem(row.number, "", Cause::NoGroup);
            row.draft.parts.problems.push(problem);
        } else if position == GroupRows::Together {
            self.close_last_group(next);
            if let Some(first_row) = self.closed.get(name).copied() {
                let problem = self.mappers[row.part].group_problem(row.number, name, Cause::Scattered { first_row });
                row.problems.push(ledger_problem(problem, self.source));
            }
        } else {
            self.groups.insert(name.into(), next);
        }
        if !name.is_empty() {
            self.last_group = Some((name.into(), next));
        }
        let parts = row.draft.parts.kept();
        // Names stay in memory to the end of the pass, even for complete records.
        let found = problem_bytes(&row.problems) + problem_bytes(&row.warnings);
        self.hold(name.len() + parts.len() + found + OVERHEAD, row.number)?;
        let (problems, warnings) = (std::mem::take(&mut row.problems), std::mem::take(&mut row.warnings));
        let histories = row.history.into_iter().collect();
        let mut lines = RepeatedLines::default();
        lines.add(parts.lines_json(), row.number);
        let group = row.draft.group.as_str().into();
        let record = Incomplete { group, parts, lines, problems, warnings, histories };
        self.waiting.push_back(Waiting::Incomplete(record));
        Ok(next)
    }

    /// Rejects the record above a line without a name: it may lack this line.
    fn reject_record_above(&mut self, row: &MappedRow) {
        let is_line = !row.draft.parts.lines_json().is_empty() && row.draft.parts.problems.is_empty();
        let Some((name, seq)) = self.last_group.as_ref().filter(|_| is_line) else { return };
        let index = self.waiting_index(*seq);
        if let Some(Waiting::Incomplete(Incomplete { parts, problems, .. })) = self.waiting.get_mut(index)
            && !problems.iter().any(|problem| problem.code == Cause::RowsBelow { row: 0 }.code())
        {
            let problem =
                self.mappers[row.part].group_problem(parts.first_row(), name, Cause::RowsBelow { row: row.number });
            problems.push(ledger_problem(problem, self.source));
        }
    }

    fn hold(&mut self, bytes: usize, row: u64) -> Result<(), Error> {
        self.held += bytes;
        if self.held > self.max_held { Err(Error::TooScattered { row }) } else { Ok(()) }
    }

    fn waiting_index(&self, seq: Seq) -> usize {
        usize::try_from(seq - self.first_waiting).unwrap_or(usize::MAX)
    }

    /// Completes all records before `next`, because the rows of a record stand together.
    fn close_last_group(&mut self, next: Seq) {
        if let Some((last, seq)) = self.last_group.take()
            && let Some(Waiting::Incomplete(Incomplete { parts, .. })) = self.waiting.get(self.waiting_index(seq))
        {
            self.closed.entry(last).or_insert(parts.first_row());
        }
        self.finish();
        debug_assert_eq!(self.first_waiting, next, "all waiting records were emitted");
    }

    fn complete(&mut self, seq: Seq, record: Incomplete) -> Record {
        let Incomplete { group, mut parts, lines, problems, warnings: mut of_rows, histories } = record;
        let found = problem_bytes(&problems) + problem_bytes(&of_rows);
        self.held = self.held.saturating_sub(parts.len() + found + OVERHEAD);
        let text = |json: Option<&str>| json.map_or_else(String::new, |json| unquoted(json).into_owned());
        let mapper = &self.mappers[self.part_of(seq)];
        let names = mapper.finish(&mut parts);
        let (key, target) = (text(names.key), text(names.target));
        let unique = mapper.unique_values(&parts);
        let mut body = Vec::new();
        let must_not_repeat = self.must_not_repeat();
        if (self.with_records || must_not_repeat) && parts.problems.is_empty() {
            mapper.body(&parts, &mut body);
        }
        let decision = self.decide(&mut parts, problems);
        let request = RequestContext { key: &key, target: &target, body: &body };
        let decision = self.review(decision, &histories, &request);
        if let Decision::Send = decision {
            self.profile.add(mapper, &parts);
        }
        let mut warnings = self.warnings(&mut parts);
        warnings.append(&mut of_rows);
        let sheet = || self.source.sheet_of(&self.source.parts[self.part_of(seq)]);
        warnings.extend(lines.problem().map(|problem| Problem { sheet: sheet(), ..problem }));
        // The key of the service is the better name.
        let is_named = must_not_repeat && key.is_empty() && target.is_empty();
        let name = if is_named { group.replace(SEPARATOR, NAME_SEPARATOR) } else { String::new() };
        Record { key, name, target, unique, rows: parts.rows, decision, warnings, body }
    }

    /// Whether sending a record of this kind twice creates a duplicate.
    fn must_not_repeat(&self) -> bool {
        self.template.record.input().must_not_repeat()
    }

    /// Returns the index of the part with the first row of a record.
    fn part_of(&self, seq: Seq) -> usize {
        self.parts.partition_point(|first| *first <= seq) - 1
    }

    /// Returns the problem of the record `seq` with the same key as `other`.
    fn same_key(&self, seq: Seq, row: u64, key: &str, cause: Cause, other: Seq) -> Problem {
        let problem = self.mappers[self.part_of(seq)].same_key(row, key, cause);
        self.with_other_sheet(ledger_problem(problem, self.source), seq, other)
    }

    /// Adds the sheet of another record to the remedy, if that is another sheet.
    fn with_other_sheet(&self, mut problem: Problem, seq: Seq, other: Seq) -> Problem {
        let (part, other_part) = (self.part_of(seq), self.part_of(other));
        if part != other_part {
            let sheet = self.source.name_of(&self.source.parts[other_part]);
            problem.remedy.push_str(&format!(" of the sheet '{sheet}'"));
        }
        problem
    }

    /// Rejects a record with any problem.
    fn decide(&self, parts: &mut Parts, more: Vec<Problem>) -> Decision {
        if parts.problems.is_empty() && more.is_empty() {
            return Decision::Send;
        }
        let found = std::mem::take(&mut parts.problems);
        let mut problems: Vec<Problem> = found.into_iter().map(|found| ledger_problem(found, self.source)).collect();
        problems.extend(more);
        problems.sort_by_key(|problem| problem.row);
        Decision::Reject(problems)
    }

    fn warnings(&self, parts: &mut Parts) -> Vec<Problem> {
        std::mem::take(&mut parts.warnings).into_iter().map(|warning| ledger_problem(warning, self.source)).collect()
    }

    /// Adds a complete record to the batch and the tally.
    fn emit(&mut self, seq: Seq, record: Record) {
        let Record { key, name, target, unique, rows, mut decision, mut warnings, body } = record;
        if self.source.chosen.is_some_and(|(first, last)| !(first..=last).contains(&rows[0])) {
            decision = Decision::Skip;
        }
        if matches!(decision, Decision::Send) && name.is_empty() && target.is_empty() && self.must_not_repeat() {
            let holder = KeyHolder { seq, row: rows[0], is_to_be_sent: true };
            let earlier = self.bodies.insert(&String::from_utf8_lossy(&body), holder, false);
            warnings.extend(
                earlier.map(|earlier| self.with_other_sheet(repeated_record(rows[0], earlier.row), seq, earlier.seq)),
            );
        }
        if self.source.is_strict && matches!(decision, Decision::Send) && !warnings.is_empty() {
            decision = Decision::Reject(std::mem::take(&mut warnings));
        }
        let decision = self.decide_by_key(seq, &key, &unique, rows[0], decision);
        if matches!(decision, Decision::Send) {
            self.tally.warn(&warnings);
        } else {
            warnings.clear();
        }
        if self.with_records {
            let sheet = self.source.sheet_of(&self.source.parts[self.part_of(seq)]);
            let disposition = match decision {
                Decision::Send => to_send(body),
                Decision::Skip => Disposition::Skipped,
                Decision::Reject(problems) => Disposition::Rejected(problems),
                Decision::AcceptedEarlier(earlier) => Disposition::AcceptedEarlier(earlier),
            };
            let present = |name: String| (!name.is_empty()).then_some(name);
            let (key, target) = (present(key).or_else(|| present(name)), present(target));
            self.batch.records.push(PlannedRecord { key, target, rows, sheet, disposition, warnings });
        }
    }

    /// Returns the final decision, considering earlier records with the same key, and updates the tally.
    fn decide_by_key(
        &mut self,
        seq: Seq,
        key: &str,
        unique: &[(usize, String)],
        row: u64,
        mut decision: Decision,
    ) -> Decision {
        let mut superseded = None;
        if !key.is_empty() && !matches!(decision, Decision::Skip) {
            let duplicates = self.template.duplicates;
            let is_to_be_sent = matches!(decision, Decision::Send);
            let holder = KeyHolder { seq, row, is_to_be_sent };
            if let Some(earlier) = self.keys.insert(key, holder, duplicates == Duplicates::Last) {
                let of_earlier = |cause| self.same_key(earlier.seq, earlier.row, key, cause, seq);
                let of_this = |cause| self.same_key(seq, row, key, cause, earlier.seq);
                match duplicates {
                    Duplicates::Error => {
                        decision = decision.with_problem(of_this(Cause::Duplicate { other_row: earlier.row }));
                        if earlier.is_to_be_sent {
                            let problem = of_earlier(Cause::Duplicate { other_row: row });
                            self.keys.withdraw(key);
                            self.withdraw(earlier, RecordState::Rejected, problem);
                        }
                    }
                    Duplicates::Last if earlier.is_to_be_sent => {
                        let problem = of_earlier(Cause::Superseded { by_row: row });
                        self.withdraw(earlier, RecordState::Skipped, problem);
                    }
                    Duplicates::First if is_to_be_sent => {
                        superseded = Some((holder, of_this(Cause::Superseded { by_row: earlier.row })));
                    }
                    Duplicates::Last | Duplicates::First => {}
                }
            }
        }
        if !unique.is_empty() && !matches!(decision, Decision::Skip) {
            decision = self.decide_by_values(seq, unique, row, decision);
        }
        match &decision {
            Decision::Send => self.tally.to_send += 1,
            Decision::Skip => self.tally.skipped += 1,
            Decision::Reject(problems) => self.tally.reject(problems),
            Decision::AcceptedEarlier(_) => self.tally.accepted_earlier += 1,
        }
        if let Some((holder, problem)) = superseded {
            self.withdraw(holder, RecordState::Skipped, problem);
        }
        decision
    }

    /// Rejects records with equal values in a field that must be unique.
    fn decide_by_values(&mut self, seq: Seq, values: &[(usize, String)], row: u64, mut decision: Decision) -> Decision {
        for (rule, value) in values {
            let holder = KeyHolder { seq, row, is_to_be_sent: matches!(decision, Decision::Send) };
            let keys = self.unique.entry(*rule).or_default();
            let Some(earlier) = keys.insert(value, holder, false) else { continue };
            keys.withdraw(value);
            let problem = self.same_value(seq, row, (*rule, value), earlier.row, earlier.seq);
            decision = decision.with_problem(problem);
            if earlier.is_to_be_sent {
                let problem = self.same_value(earlier.seq, earlier.row, (*rule, value), row, seq);
                self.withdraw(earlier, RecordState::Rejected, problem);
            }
        }
        if !matches!(decision, Decision::Send) {
            self.settled.insert(seq);
        }
        decision
    }

    /// Returns the problem of the record `seq` with the same value as `other`.
    fn same_value(&self, seq: Seq, row: u64, (rule, value): (usize, &str), other_row: u64, other: Seq) -> Problem {
        let mapper = &self.mappers[self.part_of(seq)];
        let problem = mapper.same_value(row, rule, value, Cause::Duplicate { other_row });
        self.with_other_sheet(ledger_problem(problem, self.source), seq, other)
    }

    fn withdraw(&mut self, record: KeyHolder, state: RecordState, problem: Problem) {
        // A record can share several values with others, but is counted once.
        if !self.unique.is_empty() && !self.settled.insert(record.seq) {
            return;
        }
        self.tally.withdraw(record.row, state, &problem);
        self.batch.withdrawn.push(Withdrawal { seq: record.seq, state, problem });
    }
}

fn problem_bytes(problems: &[Problem]) -> usize {
    problems.iter().map(|problem| OVERHEAD + problem.value.len()).sum()
}

/// Returns the disposition of a record to be sent, after checking the body for valid JSON.
fn to_send(body: Vec<u8>) -> Disposition {
    let json = String::from_utf8(body).map_err(|error| error.to_string());
    let checked = json.and_then(|json| match serde_json::from_str::<IgnoredAny>(&json) {
        Ok(_) => Ok(json.into_boxed_str()),
        Err(error) => Err(error.to_string()),
    });
    match checked {
        Ok(body) => Disposition::Send(body),
        Err(error) => Disposition::Rejected(vec![Problem {
            remedy: "this is a bug in sheetport; please report it".to_owned(),
            ..Problem::of_record("unsendable", format!("can't be written as JSON: {error}"))
        }]),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::read::survey;
    use super::super::row::{ReadRow, map_row};
    use super::*;
    use crate::{sheet, template::load};

    const LONG: usize = 10_000;

    /// Returns the row at which the memory limit is exceeded, if the limit is the text of ten rows.
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
        let mut assembler = Assembler { max_held: 10 * LONG, ..Assembler::new(&source, &template, &mappers, false) };
        let (mut rows, mut read, mut mapped) = (source.rows(), ReadRow::default(), MappedRow::default());
        while rows.next(&mut read.row).expect("a row").is_some() {
            map_row(&mappers[0], &source, &source.parts[0], &read, false, &mut mapped);
            match assembler.add(&mut mapped) {
                Ok(()) => {}
                Err(Error::TooScattered { row }) => return Some(row),
                Err(error) => panic!("{error}"),
            }
        }
        None
    }

    #[test]
    fn memory_for_incomplete_records_is_bounded() {
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
        // Problems and names need memory, too, even the names of complete records.
        assert_eq!(refused_at(anywhere, columns, |row| format!("A,s{row},{long},")), Some(11), "problems");
        for (group, row) in [(anywhere, 6), (together, 10)] {
            let group = group.replace("\"No\"", "[\"Note\", \"No\"]");
            assert_eq!(refused_at(&group, columns, |row| format!("{row},s,1,{}", note(row))), Some(row), "{group}");
        }
    }
}
