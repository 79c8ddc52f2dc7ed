//! A row on its way from the sheet to a record: read, mapped on whichever core is free, and handed on in order.

use super::retry::Past;
use super::source::{Part, Source};
use crate::ledger::Problem;
use crate::sheet::{Cell, Row, RowEncoder, column_letters, write};
use crate::template::map::{Draft, unquoted};
use crate::template::problem::excerpt;
use crate::template::{self, Mapper};

/// Codes of problems with how a row stands in its file.
pub(super) const BEYOND_HEADER: &str = "beyond-header";
pub(super) const STRAY_QUOTE: &str = "stray-quote";

/// A row as it was read.
#[derive(Debug, Default)]
pub(super) struct ReadRow {
    /// The place of its sheet in [`Source::parts`].
    pub part: usize,
    pub row: Row,
    /// It had a quote that stands where none can.
    pub is_mended: bool,
}

/// A row as it was mapped. Its buffers are used again.
#[derive(Debug, Default)]
pub(super) struct MadeRow {
    /// The place of its sheet in [`Source::parts`].
    pub part: usize,
    pub number: u64,
    /// How many of the common columns it needs.
    pub width: usize,
    pub draft: Draft,
    /// What is wrong with the row as it stands in the file.
    pub problems: Vec<Problem>,
    /// Where each row is a record: its body, and what it is called by. Empty: by nothing.
    pub body: Vec<u8>,
    pub key: String,
    pub target: String,
    /// As the ledger keeps them; empty where it keeps none.
    pub cells: Vec<u8>,
    /// What is known of it, where a report is handed back.
    pub past: Option<Past>,
    typed: Row,
    laid_out: Row,
    encoder: RowEncoder,
}

/// Maps one row into `made`. Its cells are kept where they are wanted.
pub(super) fn make(mapper: &Mapper<'_>, source: &Source, part: &Part, read: &ReadRow, keeps: bool, made: &mut MadeRow) {
    let past = source.past_run.as_ref().map(|run| run.past(read.part, &read.row));
    let restored = |row: &mut Row| {
        let known = source.past_run.as_ref().zip(past.as_ref());
        known.is_some_and(|(run, (past, _))| run.restore(read.part, past, &read.row, row))
    };
    let mut typed = std::mem::take(&mut made.typed);
    let row = if restored(&mut typed) { &typed } else { &read.row };
    let width = if part.layout.is_report { part.layout.width } else { row.len() };
    made.part = read.part;
    made.number = row.number;
    made.width = width.checked_sub(1).map_or(0, |last| part.places.of(last) + 1);
    made.problems.clear();
    made.body.clear();
    made.key.clear();
    made.target.clear();
    made.past = past.map(|(past, problem)| {
        made.problems.extend(problem.map(|problem| located(problem, source, part)));
        past
    });
    mapper.map(row, &mut made.draft);
    if !made.draft.is_skipped {
        made.problems.extend(overflow(row, source, part));
        if read.is_mended {
            made.problems.push(located(stray_quote(row), source, part));
        }
        if mapper.template().group.is_none() {
            let names = mapper.finish(&mut made.draft.parts);
            made.key.push_str(&names.key.map_or_else(Default::default, unquoted));
            made.target.push_str(&names.target.map_or_else(Default::default, unquoted));
            if keeps && made.draft.parts.problems.is_empty() {
                mapper.body(&made.draft.parts, &mut made.body);
            }
        }
    }
    if keeps {
        made.cells.clear();
        encode(row, part, &mut made.laid_out, &mut made.encoder);
        made.encoder.finish(row.number, &mut made.cells);
    }
    made.typed = typed;
}

/// The problem where the ledger has the cells of its row.
fn located(problem: Problem, source: &Source, part: &Part) -> Problem {
    Problem { column: problem.column.map(|column| part.places.of(column)), sheet: source.sheet_of(part), ..problem }
}

/// A problem of the template's in the words of the ledger, where the ledger has the cells of its row.
pub(super) fn problem(problem: template::Problem, source: &Source) -> Problem {
    let told = Problem {
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
        Some(part) => located(told, source, part),
        None => told,
    }
}

/// A value to the right of the header in a text file: mostly the second half of a decimal that has the delimiter in
/// it, so that all cells behind it are one column off. A workbook's cells can't slip, and people write remarks there.
fn overflow(row: &Row, source: &Source, part: &Part) -> Option<Problem> {
    let width = part.layout.header.names.len();
    if row.len() <= width || source.book.has_named_sheets() {
        return None;
    }
    let (column, cell) = row.cells().enumerate().skip(width).find(|(_, cell)| !cell.is_blank())?;
    Some(Problem {
        code: BEYOND_HEADER.to_owned(),
        row: Some(row.number),
        column: Some(column),
        header: format!("column {}", column_letters(column)),
        field: String::new(),
        value: excerpt(&cell.shown()),
        sheet: String::new(),
        message: "stands beyond the header's last column".to_owned(),
        remedy: "put quotes around a value that has the delimiter in it, or give the column a header".to_owned(),
    })
}

/// A quote in the middle of a quoted value, or one that is never closed because the file was cut short.
fn stray_quote(row: &Row) -> Problem {
    let shown = row.cells().enumerate().find(|(_, cell)| cell.shown().contains('"'));
    let (column, value) = shown.map_or((None, String::new()), |(column, cell)| (Some(column), excerpt(&cell.shown())));
    Problem {
        code: STRAY_QUOTE.to_owned(),
        row: Some(row.number),
        column,
        header: column.map_or(String::new(), |column| format!("column {}", column_letters(column))),
        field: String::new(),
        value,
        sheet: String::new(),
        message: "has a quote in a place where none can be, so its cells may be wrong".to_owned(),
        remedy: "write a quote within quotes twice; if it is the last row, check that the file is whole".to_owned(),
    }
}

/// The row's cells as the ledger keeps them, in the common columns; of one of our reports, the sheet's own columns alone.
/// What we defused is as it was before.
fn encode(row: &Row, part: &Part, laid_out: &mut Row, encoder: &mut RowEncoder) {
    let layout = &part.layout;
    let width = if layout.is_report { layout.width.min(row.len()) } else { row.len() };
    let own = |cell| match cell {
        Cell::Text(text) if layout.is_defused => Cell::Text(write::restore(text)),
        cell => cell,
    };
    encoder.clear();
    match part.places.are_moved() {
        true => {
            part.places.lay_out(row, width, laid_out);
            laid_out.cells().enumerate().for_each(|(column, cell)| encoder.put(column, own(cell)));
        }
        false => row.cells().take(width).enumerate().for_each(|(column, cell)| encoder.put(column, own(cell))),
    }
}
