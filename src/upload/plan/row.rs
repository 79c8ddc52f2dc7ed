//! Mapping a row of a sheet to a part of a record, on any thread.

use super::part::Part;
use super::row_problems::{beyond_header, doubtful};
use super::source::Source;
use crate::ledger::Problem;
use crate::sheet::{Cell, Doubt, Row, encode_row, write};
use crate::template::map::{Draft, unquoted};
use crate::template::{self, Mapper};
use crate::upload::retry::RowHistory;

/// A row as read.
#[derive(Debug, Default)]
pub(super) struct ReadRow {
    /// The index of the sheet in [`Source::parts`].
    pub part: usize,
    /// The cells; in a report, with their original types.
    pub row: Row,
    /// The problem with an identifier that is not the service's.
    pub key_problem: Option<Box<Problem>>,
    /// Why the cells may be wrong, if so.
    pub doubt: Option<Doubt>,
    /// The history of the row, if the file is a report, and the problem with its origin.
    pub history: Option<(RowHistory, Option<Problem>)>,
}

/// A mapped row. Its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct MappedRow {
    /// The index of the sheet in [`Source::parts`].
    pub part: usize,
    pub number: u64,
    /// The number of common columns.
    pub width: usize,
    pub draft: Draft,
    /// Problems with the row itself, in addition to the problems of the draft.
    pub problems: Vec<Problem>,
    /// Warnings about the row itself, in addition to the warnings of the draft.
    pub warnings: Vec<Problem>,
    /// The request body, key and id of the record if each row is a record. Otherwise empty.
    pub body: Vec<u8>,
    pub key: String,
    pub target: String,
    /// Values that no other record can have, each with the index of its rule.
    pub unique: Vec<(usize, String)>,
    /// The encoded cells for the ledger, if wanted.
    pub cells: Vec<u8>,
    /// The history of the row, if the file is a report.
    pub history: Option<RowHistory>,
    laid_out: Row,
}

/// Maps a row into `mapped`. `encodes` says whether to encode the cells and the body.
pub(super) fn map_row(
    mapper: &Mapper<'_>,
    source: &Source,
    part: &Part,
    read: &ReadRow,
    encodes: bool,
    mapped: &mut MappedRow,
) {
    mapped.part = read.part;
    mapped.problems.clear();
    mapped.warnings.clear();
    mapped.body.clear();
    mapped.key.clear();
    mapped.target.clear();
    mapped.unique.clear();
    mapped.history = read.history.as_ref().map(|(history, problem)| {
        mapped.problems.extend(problem.clone().map(|problem| located(problem, source, part)));
        *history
    });
    let row = &read.row;
    mapped.number = row.number;
    let width = if part.layout.is_report { part.layout.width } else { row.len() };
    mapped.width = width.checked_sub(1).map_or(0, |last| part.columns.of(last) + 1);
    mapper.map(row, &mut mapped.draft);
    if !mapped.draft.is_skipped {
        // Cells of a workbook can't shift, and people write remarks to the right of the header.
        if !source.book.has_named_sheets() {
            let problem = beyond_header(row, part.layout.header.names.len());
            mapped.problems.extend(problem.map(|problem| located(problem, source, part)));
        }
        if let Some(problem) = &read.key_problem {
            mapped.problems.push(located((**problem).clone(), source, part));
        }
        if let Some(doubt) = read.doubt {
            mapped.problems.push(located(doubtful(row, doubt), source, part));
        }
        if mapper.template().group.is_none() {
            let names = mapper.finish(&mut mapped.draft.parts);
            mapped.key.push_str(&names.key.map_or_else(Default::default, unquoted));
            mapped.target.push_str(&names.target.map_or_else(Default::default, unquoted));
            mapped.unique = mapper.unique_values(&mapped.draft.parts);
            // Bodies of records that must not be created twice are compared with each other.
            let needs_body = encodes || mapper.template().record.input().must_not_repeat();
            if needs_body && mapped.draft.parts.problems.is_empty() {
                mapper.body(&mapped.draft.parts, &mut mapped.body);
            }
        }
    }
    if encodes {
        mapped.cells.clear();
        encode(row, part, &mut mapped.laid_out, &mut mapped.cells);
    }
}

/// Converts a problem of the template to a problem of the ledger.
pub(super) fn ledger_problem(problem: template::Problem, source: &Source) -> Problem {
    let converted = Problem {
        code: problem.cause.code().to_owned(),
        row: Some(problem.row),
        column: problem.column,
        header: problem.header,
        field: problem.field.to_owned(),
        value: problem.value,
        sheet: String::new(),
        message: problem.cause.message(),
        remedy: problem.cause.remedy(),
    };
    match source.parts.get(problem.part) {
        Some(part) => located(converted, source, part),
        None => converted,
    }
}

/// Returns the problem with the sheet, and with the common column instead of the column of the sheet.
fn located(problem: Problem, source: &Source, part: &Part) -> Problem {
    Problem { column: problem.column.map(|column| part.columns.of(column)), sheet: source.sheet_of(part), ..problem }
}

/// Encodes the cells in the common columns, without our own columns if the file is a report. Neutralised formulas are
/// restored.
fn encode(row: &Row, part: &Part, laid_out: &mut Row, bytes: &mut Vec<u8>) {
    let layout = &part.layout;
    let width = if layout.is_report { layout.width.min(row.len()) } else { row.len() };
    let original = |cell| match cell {
        Cell::Text(text) if layout.is_defused => Cell::Text(write::restore(text)),
        cell => cell,
    };
    if part.columns.is_identity() {
        encode_row(row.number, row.cells().take(width).map(original), bytes);
    } else {
        part.columns.lay_out(row, width, laid_out);
        encode_row(row.number, laid_out.cells().map(original), bytes);
    }
}
