//! Mapping rows to values of records, and completing records, on any thread.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZero;
use std::thread;

use sheetport_checks::{self as checks, Finding, implausible_date};
use sheetport_findings::SkipReason;
use sheetport_ledger::{JudgedBy, Problem, Seq};
use sheetport_mapping::map::survey::Survey;
use sheetport_mapping::map::{Draft, Gathered, RowKind, unquoted};
use sheetport_mapping::model::{Damaged, FieldRule, Source as FieldSource};
use sheetport_mapping::problem::{Evidence, excerpt};
use sheetport_mapping::{self as mapping, Cause, Layout, Mapper, Template};
use sheetport_records::JsonType;
use sheetport_sheet::{Doubt, Row};

use super::checks::name::Name;
use super::checks::row_problems::{beyond_header, doubtful, unsplit};
use super::request::{Request, UniqueValue};
use super::source::Source;
use super::table::Table;
use crate::compare::OtherLines;
use crate::edits::Edits;
use crate::profile::Observed;
use crate::retry::{CheckedRow, RowHistory, rejected_in_check};

/// Maximum number of mapping threads.
const MAX_MAPPERS: usize = 4;

/// Returns the number of threads that map rows and complete records.
pub(super) fn mapping_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).clamp(1, MAX_MAPPERS)
}

/// What all rows of a sheet show.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// How numbers and dates are written.
    pub survey: Survey,
    /// What is regular.
    pub evidence: checks::Evidence,
    /// What was regular in the first file, if this is its report.
    pub earlier: Option<checks::Evidence>,
}

impl Known {
    /// Adds what the other rows say about a row.
    fn judge(&self, row: &Row, found: &mut Vec<Finding>) {
        self.evidence.judge(row, found);
        if let Some(earlier) = &self.earlier {
            let mut more = Vec::new();
            earlier.judge(row, &mut more);
            more.retain(|finding| !found.contains(finding));
            found.append(&mut more);
        }
    }
}

/// A row as read.
#[derive(Debug, Default)]
pub(super) struct ReadRow {
    /// The index of the sheet in [`Source::tables`].
    pub table: usize,
    /// The cells; in a report, with their original types.
    pub row: Row,
    /// Index of the cell in [`Table::cells`], if the cell is a separate record.
    pub cell: Option<usize>,
    /// Whether another cell of the same row was read before.
    pub is_further_cell: bool,
    /// The problem of an identifier that differs from the service's.
    pub key_problem: Option<Box<Problem>>,
    /// Why the cells may be wrong, if so.
    pub doubt: Option<Doubt>,
    /// The history of the row, if the file is a report, and the problem with its origin.
    pub history: Option<(RowHistory, Option<Problem>)>,
}

/// A mapped row. Its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct MappedRow {
    /// The index of the sheet in [`Source::tables`].
    pub table: usize,
    pub number: u64,
    /// Index of the cell in [`Table::cells`], if the cell is a separate record.
    pub cell: Option<usize>,
    /// Whether another cell of the same row was mapped before.
    pub is_further_cell: bool,
    /// The number of common columns.
    pub width: usize,
    pub draft: Draft,
    /// Problems with the row itself, in addition to the problems of the draft.
    pub problems: Vec<Problem>,
    /// If each row is a record.
    pub finished: Finished,
    /// The encoded cells for the ledger, if wanted.
    pub cells: Vec<u8>,
    /// The history of the row, if the file is a report.
    pub history: Option<RowHistory>,
    /// Where the row was in the first file, if the file is the report of a check.
    pub checked: Option<CheckedRow>,
    laid_out: Row,
    /// Whether the other fields are up to date.
    pub is_mapped: bool,
}

impl MappedRow {
    /// Returns the approximate memory of values and problems in bytes.
    pub(super) fn size(&self) -> usize {
        let problems: usize = self.problems.iter().map(|problem| problem.value.len() + problem.message.len()).sum();
        self.draft.gathered.len() + self.finished.request.body.len() + problems
    }
}

/// The result of a complete record. Its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Finished {
    pub request: Request,
    pub observed: Observed,
}

/// Maps the rows of a source.
pub(crate) struct RowMapper<'a> {
    pub source: &'a Source,
    pub template: &'a Template,
    /// One per table of the source.
    pub mappers: Vec<Mapper<'a>>,
    /// By table of the source: one mapper per cell that is a separate record.
    cell_mappers: Vec<Vec<Mapper<'a>>>,
    /// One per table of the source.
    known: &'a [Known],
    /// Edits made in a review.
    pub edits: Option<&'a Edits>,
    /// Whether to encode cells and write all bodies. Without, only the tally is wanted.
    pub encodes: bool,
    hasher: RandomState,
}

impl<'a> RowMapper<'a> {
    /// `known` has one entry per table of the source.
    pub(super) fn new(source: &'a Source, template: &'a Template, known: &'a [Known], encodes: bool) -> Self {
        let resolved = source.references.as_ref();
        let tables = || source.tables.iter().zip(known.iter().map(|known| &known.survey)).enumerate();
        let mappers = tables()
            .map(|(index, (table, survey))| Mapper::new(index, template, &table.layout, survey).resolving(resolved));
        let mappers = mappers.collect();
        let of_cells = |(index, (table, survey)): (usize, (&'a Table, &'a Survey))| {
            let mapper = |layout| Mapper::new(index, template, layout, survey).resolving(resolved);
            table.cells.iter().map(mapper).collect()
        };
        let cell_mappers = tables().map(of_cells).collect();
        let edits = source.edits.as_deref();
        RowMapper { source, template, mappers, cell_mappers, known, edits, encodes, hasher: RandomState::new() }
    }

    /// Returns the mapper of a table, or of a cell in it.
    pub(super) fn mapper(&self, table: usize, cell: Option<usize>) -> &Mapper<'a> {
        cell.map_or(&self.mappers[table], |cell| &self.cell_mappers[table][cell])
    }

    /// Maps a row into `mapped`.
    pub(super) fn map(&self, read: &ReadRow, mapped: &mut MappedRow) {
        let (source, table) = (self.source, &self.source.tables[read.table]);
        let mapper = self.mapper(read.table, read.cell);
        mapped.table = read.table;
        (mapped.cell, mapped.is_further_cell) = (read.cell, read.is_further_cell);
        mapped.problems.clear();
        mapped.finished.request.clear();
        mapped.finished.observed.clear();
        mapped.history = read.history.as_ref().map(|(history, problem)| {
            mapped.problems.extend(problem.clone().map(|problem| located(problem, source, table)));
            *history
        });
        let row = &read.row;
        mapped.number = row.number;
        let may_be_nameless = self.template.group.as_ref().is_some_and(|group| group.blank_is_above);
        let is_checked = may_be_nameless && self.is_of_check(&table.layout);
        mapped.checked = if is_checked { CheckedRow::of(row, &table.layout) } else { None };
        let width = if table.layout.is_report { table.layout.width } else { row.len() };
        mapped.width = width.checked_sub(1).map_or(0, |last| table.columns.of(last) + 1);
        if self.edits.is_some_and(|edits| edits.leaves_out(table.sheet, row.number)) {
            mapped.draft.skip(row.number, SkipReason::LeftOut);
        } else if table.cells.is_empty() || read.cell.is_some() {
            mapper.map(row, &mut mapped.draft);
        } else {
            // All cells that could be records are blank.
            mapped.draft.skip(row.number, SkipReason::BlankCells);
        }
        if !matches!(mapped.draft.kind, RowKind::Skipped(_)) {
            let width = table.layout.header.names.len();
            let found = [
                // Cells of a workbook can't shift, and people write remarks to the right of the header.
                if source.book.has_named_sheets() { None } else { beyond_header(row, width) },
                if read.doubt.is_some() { None } else { unsplit(row, width) },
                read.key_problem.as_deref().cloned(),
                read.doubt.map(|doubt| doubtful(row, doubt)),
                self.rejected_in_check(row, &table.layout),
            ];
            mapped.problems.extend(found.into_iter().flatten().map(|problem| located(problem, source, table)));
        }
        if let Some(orders) = source.orders.as_ref().filter(|_| mapped.draft.kind == RowKind::Record) {
            let found = orders.problems(mapper, row, &mapped.draft.gathered).into_iter();
            mapped.problems.extend(found.map(|problem| ledger_problem(problem, source)));
        }
        if mapped.draft.kind == RowKind::Record && !read.is_further_cell {
            self.judge(read, mapped);
        }
        if mapped.draft.kind == RowKind::Record && self.template.group.is_none() {
            self.finish((read.table, read.cell), &mut mapped.draft.gathered, &mut mapped.finished);
            let request = &mut mapped.finished.request;
            // In a row with a problem, the cells may be misplaced.
            request.name = self.name(&request.key).filter(|_| mapped.problems.is_empty());
        }
        if self.encodes {
            mapped.cells.clear();
            encode(row, table, &mut mapped.laid_out, &mut mapped.cells);
        }
    }

    /// Whether the file is the report of a check or rehearsal. The ledger knows the rows of other reports.
    fn is_of_check(&self, layout: &Layout) -> bool {
        layout.is_report && self.source.history.is_none()
    }

    /// Returns the problem of a row that was rejected in a check or rehearsal, of which this file is the report.
    fn rejected_in_check(&self, row: &Row, layout: &Layout) -> Option<Problem> {
        if !self.is_of_check(layout) {
            return None;
        }
        // The marks of the rows know the template and the strictness of the check.
        let answers = self.source.answers(self.template, false, false);
        let judged = JudgedBy { template_toml: &self.template.source, is_strict: self.source.is_strict };
        rejected_in_check(row, layout, judged, &answers)
    }

    /// Returns a problem with the sheet of a table.
    pub(super) fn located(&self, problem: Problem, table: usize) -> Problem {
        located(problem, self.source, &self.source.tables[table])
    }

    /// Adds what the other rows of the sheet say about a row. A cell that has a problem already is not judged again.
    fn judge(&self, read: &ReadRow, mapped: &mut MappedRow) {
        // Cells of such a row may be misplaced.
        if !mapped.problems.is_empty() {
            return;
        }
        let mut found = Vec::new();
        self.known[read.table].judge(&read.row, &mut found);
        let header = &self.source.tables[read.table].layout.header.names;
        found.extend(self.implausible_dates(read, mapped));
        let gathered = &mut mapped.draft.gathered;
        for finding in found {
            let Finding { code, column, field, value, message, remedy, is_warning } = finding;
            if gathered.problems.iter().any(|problem| problem.column.is_none_or(|known| known == column)) {
                continue;
            }
            let problem = mapping::Problem {
                table: read.table,
                row: read.row.number,
                column: Some(column),
                header: header.get(column).map(|name| excerpt(name.trim())).unwrap_or_default(),
                field,
                value: excerpt(&value),
                cause: Cause::Evidence(Box::new(Evidence { code, message, remedy })),
            };
            if is_warning || self.source.accepts.contains(&code) {
                gathered.warnings.push(problem);
            } else {
                gathered.problems.push(problem);
            }
        }
    }

    /// Returns findings about dates of the record.
    fn implausible_dates(&self, read: &ReadRow, mapped: &MappedRow) -> Vec<Finding> {
        let table = &self.source.tables[read.table];
        let layout = read.cell.map_or(&table.layout, |cell| &table.cells[cell]);
        let Some(today) = layout.facts.today.filter(|_| !layout.is_export()) else {
            return Vec::new();
        };
        let dates = mapped.draft.gathered.values().filter_map(|(index, iso)| {
            let rule = self.template.rule(index).filter(|rule| rule.field.json == JsonType::DateTime)?;
            let column = layout.columns[index].first().filter(|_| rule.damaged != Damaged::Accept)?;
            implausible_date(iso, read.row.get(column).shown().trim(), today, (column, rule.field.name))
        });
        dates.collect()
    }

    /// Checks a complete record of a table, or of a cell in it, and writes its request.
    pub(super) fn finish(
        &self,
        (table, cell): (usize, Option<usize>),
        gathered: &mut Gathered,
        finished: &mut Finished,
    ) {
        let mapper = self.mapper(table, cell);
        let Finished { request, observed } = finished;
        let names = mapper.finish(gathered);
        request.key.push_str(&names.key.map_or_else(Default::default, unquoted));
        request.target.push_str(&names.target.map_or_else(Default::default, unquoted));
        let (mut kept, is_id) = (None, names.is_id);
        // Each figure of an inventory is counted by itself.
        if let Some(figure) = self.counted_figure(gathered).filter(|_| !request.key.is_empty()) {
            request.key.push_str(&format!(" ({figure})"));
        }
        request.command = mapper.command(gathered);
        if let Some(orders) = &self.source.orders {
            let row = gathered.first_row();
            let located = |cause| mapper.same_key(row, &request.key, cause);
            match orders.other_lines(&request.target, is_id, gathered) {
                OtherLines::None => {}
                OtherLines::Lost(causes) => gathered.warnings.extend(causes.into_iter().map(located)),
                OtherLines::NotKept(cause) => gathered.problems.push(located(cause)),
                OtherLines::Kept(lines) => kept = Some(lines),
            }
            gathered.warnings.extend(orders.lost_values(&request.target, is_id, gathered).map(located));
            if let Some(order) = orders.find(&request.target, is_id) {
                request.target.clear();
                request.target.push_str(&order.id);
            }
        }
        // Rows can name the same order by its external id and by its id.
        if !request.identity().is_empty() {
            request.identity_hash = self.hasher.hash_one(request.identity());
        }
        let unique = mapper.unique_values(gathered).into_iter();
        request.unique.extend(unique.map(|(rule, text)| UniqueValue { rule, hash: self.hasher.hash_one(&text), text }));
        if !gathered.problems.is_empty() {
            return;
        }
        observed.observe(mapper, gathered);
        if let Some(lines) = kept {
            gathered.add_lines(&lines);
        }
        // Only non-idempotent records are compared by body.
        let must_not_repeat = self.template.input().must_not_repeat();
        if self.encodes || must_not_repeat {
            mapper.body(gathered, &mut request.body);
        }
        if must_not_repeat {
            request.body_hash = self.hasher.hash_one(&request.body);
        }
    }

    /// Returns which figure of an inventory was counted, if the rows say it.
    fn counted_figure(&self, gathered: &Gathered) -> Option<String> {
        let is_it =
            |rule: &FieldRule| rule.field.name == "inventoryType" && !matches!(rule.source, FieldSource::Constant(_));
        let index = self.template.fields.iter().position(is_it).filter(|_| self.template.counts)?;
        let (_, json) = gathered.values().find(|(rule, json)| *rule == index && *json != "null")?;
        Some(unquoted(json).into_owned())
    }

    /// Returns the hash of a line of a record, as JSON.
    pub(super) fn line_hash(&self, seq: Seq, line: &str) -> u64 {
        self.hasher.hash_one((seq, line))
    }

    /// Returns a name for comparison, or `None` if empty.
    pub(super) fn name(&self, name: &str) -> Option<Name> {
        (!name.is_empty()).then(|| Name::new(name, &self.hasher))
    }
}

/// Converts a problem of the template to a problem of the ledger.
pub fn ledger_problem(problem: mapping::Problem, source: &Source) -> Problem {
    let converted = Problem {
        is_internal: problem.cause.is_internal(),
        code: problem.cause.code(),
        row: Some(problem.row),
        column: problem.column,
        header: problem.header,
        field: problem.field.to_owned(),
        value: problem.value,
        sheet: String::new(),
        message: problem.cause.message(),
        remedy: problem.cause.remedy(),
    };
    match source.tables.get(problem.table) {
        Some(table) => located(converted, source, table),
        None => converted,
    }
}

/// Returns the problem with the sheet, and with the common column instead of the column of the sheet.
fn located(problem: Problem, source: &Source, table: &Table) -> Problem {
    Problem { column: problem.column.map(|column| table.columns.of(column)), sheet: source.sheet_of(table), ..problem }
}

/// Encodes the cells in the common columns, without our own columns if the file is a report.
fn encode(row: &Row, table: &Table, laid_out: &mut Row, bytes: &mut Vec<u8>) {
    let layout = &table.layout;
    let width = if layout.is_report { layout.width.min(row.len()) } else { row.len() };
    if table.columns.is_identity() {
        row.encode_first(width, bytes);
    } else {
        table.columns.lay_out(row, width, laid_out);
        laid_out.encode(bytes);
    }
}
