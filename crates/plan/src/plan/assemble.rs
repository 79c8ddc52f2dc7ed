//! Assembling mapped rows into planned records, in the order of the sheet.

use std::collections::{HashMap, VecDeque};

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::{Disposition, Origin, PlannedRecord, Problem, RecordState, Seq, SourceRow};
use sheetport_mapping::map::{Gathered, RowKind, SEPARATOR};
use sheetport_mapping::model::{Duplicates as Policy, GroupRows};
use sheetport_mapping::{self as mapping, Cause};

use super::checks::asked::Asked;
use super::checks::copied::{CopiedRow, CopiedRows, copied_among_others, copied_row};
use super::checks::duplicates::{Duplicates, Withdrawal};
use super::checks::keys;
use super::checks::name::Name;
use super::checks::repeated::{RepeatedLines, repeated_record};
use super::checks::suspects::Suspects;
use super::checks::tables_read::TablesRead;
use super::decision::{decided, to_send};
use super::request::Request;
use super::row::{Finished, MappedRow, RowMapper, ledger_problem};
use super::source::unanswered;
use super::standing::Standing;
use super::waiting::{Incomplete, OVERHEAD, Record, Waiting, finish_all, problem_bytes};
use crate::error::Error;
use crate::profile::Collector;
use crate::retry::{CheckedRecords, Claimant, Reviewer, RowHistory, torn};
use crate::sent_before::NAME_SEPARATOR;
use crate::tally::Tally;

/// Maximum size of incomplete records, in bytes. Records with scattered rows stay incomplete until the end of the sheet.
const MAX_HELD: usize = 1 << 30;
/// Number of records held back, because the rows below may identify them as copies. Other rows between copied rows are possible.
const HELD_BACK: usize = 16;
/// Records that are finished together at the end of the sheet.
const AHEAD: usize = 4096;

/// A batch of rows of a sheet, mapped.
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

pub(super) struct Assembler<'t> {
    rows: &'t RowMapper<'t>,
    tables: TablesRead<'t>,
    /// Records in order, starting with the first incomplete record.
    waiting: VecDeque<Waiting>,
    first_waiting: Seq,
    groups: HashMap<Box<str>, Seq>,
    /// The first rows of complete records by group name, if the template says that the rows of a record stand together.
    closed: HashMap<Box<str>, u64>,
    pub standing: Standing,
    last_group: Option<(Box<str>, Seq)>,
    held: usize,
    max_held: usize,
    duplicates: Duplicates,
    /// Present if copied rows are problems.
    copied: Option<CopiedRows>,
    suspects: Suspects,
    asked: Asked<'t>,
    /// Present if the file is a report.
    reviewer: Option<Reviewer<'t>>,
    /// Present if rows may lack the name of their record. Empty, unless the file is the report of a check.
    checked: Option<CheckedRecords>,
    batch: Batch,
    profile: Collector,
    pub tally: Tally,
}

impl<'t> Assembler<'t> {
    pub(super) fn new(rows: &'t RowMapper<'t>, standing: Standing) -> Assembler<'t> {
        let RowMapper { source, template, .. } = rows;
        let sheets = || source.tables.iter().map(|table| source.sheet_of(table)).collect();
        let input = template.input();
        Assembler {
            rows,
            tables: TablesRead::new(rows),
            waiting: VecDeque::new(),
            first_waiting: 0,
            groups: HashMap::new(),
            closed: HashMap::new(),
            standing,
            last_group: None,
            held: 0,
            max_held: MAX_HELD,
            duplicates: Duplicates::new(template),
            copied: (!source.allows_copies && template.duplicates != Policy::Send).then(CopiedRows::default),
            suspects: Suspects::default(),
            asked: Asked::new(source),
            checked: template.group.as_ref().is_some_and(|group| group.blank_is_above).then(CheckedRecords::default),
            reviewer: source.history.as_ref().map(|history| Reviewer::new(history, sheets(), input, &source.accepts)),
            batch: Batch::default(),
            profile: Collector::new(template),
            tally: Tally::default(),
        }
    }

    /// Adds a warning about the file as a whole.
    pub(super) fn warn_of_file(&mut self, warning: Problem) {
        self.tally.questions.extend(unanswered(std::slice::from_ref(&warning), &self.rows.source.accepts));
        self.tally.warn_of_file(warning);
    }

    /// Adds the next row.
    ///
    /// # Errors
    /// [`Error::TooManyRows`] and [`Error::TooScattered`].
    pub(super) fn add(&mut self, row: &mut MappedRow) -> Result<(), Error> {
        // Non-records and left-out rows count once per row, not per cell.
        if row.is_further_cell && row.draft.kind != RowKind::Record {
            return Ok(());
        }
        self.tally.rows += u64::from(!row.is_further_cell);
        self.tally.width = self.tally.width.max(row.width);
        self.batch.read += u64::from(!row.is_further_cell);
        let next = self.first_waiting + self.waiting.len() as Seq;
        if row.number.max(self.tally.rows).max(next.unsigned_abs()) > keys::MAX_ROWS {
            return Err(Error::TooManyRows { most: keys::MAX_ROWS });
        }
        self.tables.begin(row.table, next);
        let copied = self.copied.as_mut().map_or_else(Vec::new, |copied| copied.begin_sheet(row.table));
        self.reject_copies(copied);
        if let (Some(reviewer), Some(history)) = (&mut self.reviewer, &mut row.history) {
            row.problems.extend(reviewer.check_copy(history));
        }
        let seq = match &self.rows.template.group {
            Some(group) if row.draft.kind == RowKind::Record => {
                self.add_to_group(row, group.rows, group.blank_is_above, next)?
            }
            Some(_) if !self.waiting.is_empty() => {
                let record = self.single(row);
                self.waiting.push_back(Waiting::Complete(record));
                next
            }
            group => {
                let held_back = if group.is_none() && self.must_not_repeat() { HELD_BACK } else { 0 };
                let record = self.single(row);
                let copied = match &mut self.copied {
                    Some(copied) if held_back > 0 && record.may_be_copied() => {
                        copied.add(record.request.body_hash, next, row.number)
                    }
                    _ => Vec::new(),
                };
                self.waiting.push_back(Waiting::Complete(record));
                self.reject_copies(copied);
                self.emit_waiting(held_back);
                next
            }
        };
        if self.rows.encodes {
            let cells = std::mem::take(&mut row.cells);
            let sheet = self.rows.source.sheet_of(&self.rows.source.tables[row.table]);
            let origin = match (&self.reviewer, &row.history) {
                (Some(reviewer), Some(history)) => reviewer.origin(history, &sheet),
                _ => Origin::Same,
            };
            let cell = self.rows.source.name_of_cell(row.table, row.cell).map(Into::into);
            self.batch.rows.push(SourceRow { number: row.number, cell, seq, cells, sheet, origin });
        }
        Ok(())
    }

    /// Returns the rows and records produced since the last call.
    pub(super) fn take_batch(&mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }

    /// Completes all records: there are no more rows.
    pub(super) fn finish(&mut self) {
        let copied = self.copied.as_mut().map_or_else(Vec::new, CopiedRows::end_sheet);
        self.reject_copies(copied);
        while !self.waiting.is_empty() {
            let next = (self.first_waiting..).zip(self.waiting.iter_mut().take(AHEAD));
            finish_all(next, self.rows, |seq| self.tables.table_of(seq));
            self.emit_waiting(self.waiting.len().saturating_sub(AHEAD));
        }
        for (seq, row) in self.checked.as_mut().map_or_else(Vec::new, CheckedRecords::torn) {
            self.reject(seq, row, self.rows.located(torn(row), self.tables.table_of(seq)));
        }
        for Claimant { seq, row, key, owner } in self.reviewer.as_ref().map_or_else(Vec::new, Reviewer::overwriting) {
            self.reject(seq, row, self.tables.same_key(seq, row, &key, Cause::SentForOtherRow { row: owner }, seq));
        }
    }

    /// Rejects a record that was to be sent.
    fn reject(&mut self, seq: Seq, row: u64, problem: Problem) {
        self.tally.withdraw(row, RecordState::Rejected, &problem);
        self.batch.withdrawn.push(Withdrawal { seq, row, state: RecordState::Rejected, problem });
    }

    /// Completes the waiting records except the last `except`.
    fn emit_waiting(&mut self, except: usize) {
        while self.waiting.len() > except
            && let Some(waiting) = self.waiting.pop_front()
        {
            let seq = self.first_waiting;
            self.first_waiting += 1;
            let record = match waiting {
                Waiting::Complete(record) => record,
                Waiting::Incomplete(record) => self.complete(seq, record),
            };
            self.emit(seq, record);
        }
    }

    /// Rejects the records of copied rows.
    fn reject_copies(&mut self, copied: Vec<CopiedRow>) {
        for copied in copied {
            let index = self.waiting_index(copied.copy.seq());
            let Some(waiting) = self.waiting.get_mut(index) else { continue };
            let first = match waiting {
                Waiting::Complete(record) => record.rows[0],
                Waiting::Incomplete(record) => record.gathered.first_row(),
            };
            let problem = self.tables.copied(copied.tables, copied_row(copied, first));
            match waiting {
                Waiting::Complete(record) => record.add_problem(problem),
                Waiting::Incomplete(record) => record.problems.push(problem),
            }
        }
    }

    /// Returns the number of times that each row occurs, if equal for all rows. Returns `None` if all rows are already rejected
    /// as copies.
    pub(super) fn times_of_each_row(&self) -> Option<usize> {
        self.copied.as_ref().and_then(CopiedRows::times_of_each)
    }

    /// Returns the tally of all records.
    pub(super) fn into_tally(self) -> Tally {
        Tally { profile: self.profile.profile(), ..self.tally }
    }

    /// Returns the tally of the whole file, or an error if the file has nothing of what was asked for.
    pub(super) fn into_whole_tally(self) -> Result<Tally, Error> {
        self.asked.check()?;
        Ok(self.into_tally())
    }

    /// Returns the record of a row without further rows.
    fn single(&mut self, row: &mut MappedRow) -> Record {
        let (number, mapper) = (row.number, self.rows.mapper(row.table, row.cell));
        let (gathered, problems) = (&mut row.draft.gathered, &mut row.problems);
        // Lists of the service have records without a name.
        if row.draft.kind == RowKind::Record
            && problems.is_empty()
            && !gathered.problems.iter().any(|problem| problem.cause.code() == Code::NoName)
            && !mapper.reads_an_export()
            && let Some(rule) = self.suspects.continues_above(mapper, gathered)
        {
            let problem = mapper.same_value(number, rule, "", Cause::Continues);
            problems.push(ledger_problem(problem, self.rows.source));
        }
        let decision = match row.draft.kind {
            RowKind::Skipped(reason) => Disposition::Skipped(reason),
            RowKind::Record | RowKind::NoRecord => {
                decided(gathered, std::mem::take(problems), row.finished.request.command, self.rows.source)
            }
        };
        let name = row.finished.request.name.take();
        let of_name = |cause| mapper.same_key(number, &row.finished.request.key, cause);
        let (decision, warnings) =
            self.conclude(decision, gathered, row.history.as_slice(), &row.finished, (name, &of_name));
        let request = std::mem::take(&mut row.finished.request);
        Record { request, name: String::new(), rows: vec![number], checked: None, decision, warnings }
    }

    /// Returns the decision about a complete record, considering the histories of its rows, and its warnings. `name` is compared
    /// with earlier names; the function beside it locates problems with the name.
    fn conclude(
        &mut self,
        decision: Disposition<()>,
        gathered: &mut Gathered,
        histories: &[RowHistory],
        finished: &Finished,
        (name, of_name): (Option<Name>, &dyn Fn(Cause) -> mapping::Problem),
    ) -> (Disposition<()>, Vec<Problem>) {
        let decision = self.review(decision, histories, &finished.request);
        if let Disposition::Send(()) = decision {
            self.profile.add(self.rows.template, gathered, &finished.observed);
        }
        let mut warnings = std::mem::take(&mut gathered.warnings);
        if let Some(name) = name {
            warnings.extend(self.suspects.add_name(gathered.first_row(), name).into_iter().map(of_name));
        }
        let located = warnings.into_iter().map(|warning| ledger_problem(warning, self.rows.source));
        (decision, located.collect())
    }

    /// Returns the decision after considering the histories of the record's rows.
    fn review(&mut self, decision: Disposition<()>, histories: &[RowHistory], request: &Request) -> Disposition<()> {
        let Some(reviewer) = &mut self.reviewer else { return decision };
        let decision = reviewer.review(decision, histories, request);
        self.tally.count_histories(matches!(decision, Disposition::AcceptedEarlier(_)), histories);
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
            let (mut added, mut copied) = (0, Vec::new());
            if let Some(Waiting::Incomplete(record)) = self.waiting.get_mut(index) {
                let Incomplete { gathered, lines, problems, histories, checked, .. } = record;
                if let (Some(reviewer), Some(history)) = (&mut self.reviewer, row.history) {
                    let first = histories.first().filter(|_| name.is_empty());
                    problems.extend(first.and_then(|first| reviewer.check_strayed(&history, first)));
                    histories.push(history);
                }
                if let Some(records) = self.checked.as_mut().filter(|_| name.is_empty()) {
                    let strayed = records.check_strayed(row.number, row.checked, *checked);
                    problems.extend(strayed.map(|problem| self.rows.located(problem, row.table)));
                }
                let reported = gathered.problems.len();
                let before = gathered.len_from(reported);
                let line = row.draft.gathered.lines_json();
                lines.add(line, row.number);
                copied = add_line(&mut self.copied, self.rows, line, (seq, row.number));
                self.rows.mappers[row.table].merge(gathered, &row.draft.gathered);
                added = gathered.len_from(reported).saturating_sub(before) + problem_bytes(&row.problems);
                problems.append(&mut row.problems);
            }
            self.reject_copies(copied);
            self.hold(added, row.number)?;
            if !name.is_empty() && self.last_group.as_ref().is_none_or(|(_, last)| *last != seq) {
                self.last_group = Some((name.into(), seq));
            }
            return Ok(seq);
        }
        if name.is_empty() {
            self.reject_record_above(row);
            if let (Some(reviewer), Some(history)) = (&mut self.reviewer, &row.history) {
                reviewer.note_torn(history);
            }
            self.checked.iter_mut().for_each(|records| records.note_torn(row.checked));
            // Among the problems of the draft, to avoid reporting the missing key as well.
            let problem = self.rows.mappers[row.table].group_problem(row.number, "", Cause::NoGroup);
            row.draft.gathered.problems.push(problem);
        } else if position == GroupRows::Together {
            self.close_last_group(next);
            if let Some(first_row) = self.closed.get(name).copied() {
                let problem =
                    self.rows.mappers[row.table].group_problem(row.number, name, Cause::Scattered { first_row });
                row.problems.push(ledger_problem(problem, self.rows.source));
            }
        } else if self.standing.begin(self.last_group.as_ref().map(|(last, _)| &**last), name) {
            // The rows below may still identify the last records as copies.
            self.emit_waiting(HELD_BACK);
        } else {
            self.groups.insert(name.into(), next);
        }
        if !name.is_empty() {
            self.last_group = Some((name.into(), next));
        }
        let gathered = row.draft.gathered.kept();
        // Names stay in memory to the end of the pass, even for complete records.
        let found = problem_bytes(&row.problems);
        self.hold(name.len() + gathered.len() + found + OVERHEAD, row.number)?;
        let problems = std::mem::take(&mut row.problems);
        let histories = row.history.into_iter().collect();
        let mut lines = RepeatedLines::default();
        lines.add(gathered.lines_json(), row.number);
        let copied = add_line(&mut self.copied, self.rows, gathered.lines_json(), (next, row.number));
        let group = row.draft.group.as_str().into();
        let record = Incomplete { group, gathered, lines, problems, histories, checked: row.checked, finished: None };
        self.waiting.push_back(Waiting::Incomplete(record));
        self.reject_copies(copied);
        Ok(next)
    }

    /// Rejects the record above a line without a name, because the line may belong to that record.
    fn reject_record_above(&mut self, row: &MappedRow) {
        let is_line = !row.draft.gathered.lines_json().is_empty() && row.draft.gathered.problems.is_empty();
        let Some((name, seq)) = self.last_group.as_ref().filter(|_| is_line) else { return };
        let index = self.waiting_index(*seq);
        if let Some(Waiting::Incomplete(Incomplete { gathered, problems, .. })) = self.waiting.get_mut(index)
            && !problems.iter().any(|problem| problem.code == Code::RowsBelow)
        {
            let problem = self.rows.mappers[row.table].group_problem(
                gathered.first_row(),
                name,
                Cause::RowsBelow { row: row.number },
            );
            problems.push(ledger_problem(problem, self.rows.source));
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
            && let Some(Waiting::Incomplete(Incomplete { gathered, .. })) = self.waiting.get(self.waiting_index(seq))
        {
            self.closed.entry(last).or_insert(gathered.first_row());
        }
        self.emit_waiting(0);
        debug_assert_eq!(self.first_waiting, next, "all waiting records were emitted");
    }

    fn complete(&mut self, seq: Seq, mut record: Incomplete) -> Record {
        self.held = self.held.saturating_sub(record.gathered.len() + problem_bytes(&record.problems) + OVERHEAD);
        let table = self.tables.table_of(seq);
        let finished = record.finish(self.rows, table);
        let Incomplete { group, mut gathered, lines, mut problems, histories, checked, .. } = record;
        let row = gathered.first_row();
        if self.copied.is_some() && problems.iter().all(|problem| problem.code != Code::CopiedRows) {
            problems.extend(lines.copied().map(|problem| Problem { sheet: self.tables.sheet_of(seq), ..problem }));
        }
        // In a row with a problem, the cells may be misplaced.
        let name = self.rows.name(&group).filter(|_| problems.is_empty());
        let decision = decided(&mut gathered, problems, finished.request.command, self.rows.source);
        let mapper = &self.rows.mappers[table];
        let of_name = |cause| mapper.group_problem(row, &group, cause);
        let (decision, mut warnings) = self.conclude(decision, &mut gathered, &histories, &finished, (name, &of_name));
        let request = finished.request;
        warnings.extend(lines.problem().map(|problem| Problem { sheet: self.tables.sheet_of(seq), ..problem }));
        // The key of the service is the better name.
        let is_named = self.must_not_repeat() && request.key.is_empty() && request.target.is_empty();
        let name = if is_named { group.replace(SEPARATOR, NAME_SEPARATOR) } else { String::new() };
        Record { request, name, rows: gathered.rows, checked, decision, warnings }
    }

    /// Whether sending a record of this kind twice creates a duplicate.
    fn must_not_repeat(&self) -> bool {
        self.rows.template.input().must_not_repeat()
    }

    /// Adds a complete record to the batch and the tally.
    fn emit(&mut self, seq: Seq, record: Record) {
        let Record { request, name, rows, checked, mut decision, mut warnings } = record;
        let (source, row) = (self.rows.source, rows[0]);
        if !self.asked.is_chosen(row, if name.is_empty() { &request.key } else { &name }) {
            decision = Disposition::Skipped(SkipReason::NotChosen);
        }
        let is_nameless = name.is_empty() && request.target.is_empty() && self.must_not_repeat();
        if is_nameless
            && matches!(decision, Disposition::Send(()))
            && let Some(earlier) = self.duplicates.earlier_body(seq, row, request.body_hash)
        {
            // Beside copied rows, a single repeated row is probably a mistake as well.
            let has_copies = self.copied.as_ref().is_some_and(CopiedRows::has_copies);
            let problem =
                if has_copies { copied_among_others(row, earlier.row) } else { repeated_record(row, earlier.row) };
            let problem = Problem { sheet: self.tables.sheet_of(seq), ..problem };
            let problem = self.tables.with_other_sheet(problem, seq, earlier.seq);
            match has_copies {
                true => decision = decision.with_problem(problem),
                false => warnings.push(problem),
            }
        }
        if source.is_strict && matches!(decision, Disposition::Send(())) && !warnings.is_empty() {
            decision = Disposition::Rejected(std::mem::take(&mut warnings));
        }
        let earlier = self.batch.withdrawn.len();
        let withdrawn = &mut self.batch.withdrawn;
        let decision = self.duplicates.decide(&self.tables, (seq, row), &request, decision, withdrawn);
        if let (Disposition::Send(()), Some(reviewer)) = (&decision, &mut self.reviewer) {
            reviewer.claim(seq, row, &request);
        }
        if let (Disposition::Send(()), Some(first), Some(records)) = (&decision, checked, &mut self.checked) {
            records.send(first, seq, row);
        }
        match &decision {
            Disposition::Send(()) => self.tally.to_send += 1,
            Disposition::Skipped(_) => self.tally.skipped += 1,
            Disposition::Rejected(problems) => self.tally.reject(problems),
            Disposition::AcceptedEarlier(_) => self.tally.accepted_earlier += 1,
        }
        for Withdrawal { seq, row, state, problem } in &self.batch.withdrawn[earlier..] {
            self.tally.withdraw(*row, *state, problem);
            self.checked.iter_mut().for_each(|records| records.withdraw(*seq));
        }
        match &decision {
            Disposition::Send(()) => self.tally.warn(&warnings),
            // What the template says about the rows that it leaves out.
            Disposition::Skipped(SkipReason::SkipWhere | SkipReason::KeepWhere) => self.tally.leave_out(&warnings),
            _ => warnings.clear(),
        }
        if self.rows.encodes {
            let Request { key, target, body, command, .. } = request;
            let sheet = self.tables.sheet_of(seq);
            let disposition = decision.and_then(|()| to_send(body));
            let present = |name: String| (!name.is_empty()).then_some(name);
            let (key, target) = (present(key).or_else(|| present(name)), present(target));
            self.batch.records.push(PlannedRecord { key, target, rows, sheet, disposition, command, warnings });
        }
    }
}

/// Adds the line of a row and its record to the rows so far. Returns the rows now recognized as copies.
fn add_line(
    copied: &mut Option<CopiedRows>,
    rows: &RowMapper<'_>,
    line: &str,
    (seq, row): (Seq, u64),
) -> Vec<CopiedRow> {
    match copied {
        Some(copied) if !line.is_empty() => copied.add(rows.line_hash(seq, line), seq, row),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use sheetport_mapping::load;
    use sheetport_sheet as sheet;

    use super::super::read::survey;
    use super::super::row::{Known, ReadRow};
    use super::super::source::Source;
    use super::*;

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
        let surveys = survey(&source, &template).expect("a survey").into_iter();
        let known: Vec<Known> = surveys.map(|survey| Known { survey, ..Known::default() }).collect();
        let mapper = RowMapper::new(&source, &template, &known, false);
        let mut assembler = Assembler { max_held: 10 * LONG, ..Assembler::new(&mapper, Standing::default()) };
        let (mut rows, mut read, mut mapped) = (source.rows(), ReadRow::default(), MappedRow::default());
        while rows.next(&mut read.row).expect("a row").is_some() {
            mapper.map(&read, &mut mapped);
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
