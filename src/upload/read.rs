//! One pass over a sheet: every row mapped, every record with its place, its rows and its problems.
//!
//! Both the plan of an upload and `check` are made of this pass, so that they can't disagree.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};

use serde_json::value::RawValue;

use super::error::Error;
use super::source::{Part, Source};
use super::tally::Tally;
use crate::ledger::{Fate, PlannedRecord, Problem, Seq, SourceRow};
use crate::sheet::{Cell, Row, column_letters, write};
use crate::template::{self, Cause, Mapped, Mapper, Template};

/// Rows handed on together, unless their texts are very long.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// A stretch of a sheet, mapped.
#[derive(Debug, Default)]
pub struct Batch {
    pub rows: Vec<SourceRow>,
    pub records: Vec<PlannedRecord>,
    /// Records of earlier batches that are wrong after all.
    pub late: Vec<(Seq, Problem)>,
}

/// Reads `source` to its end. `hand_on` takes the batches in order and answers whether to go on.
pub fn read(source: &Source, template: &Template, mut hand_on: impl FnMut(Batch) -> bool) -> Result<Tally, Error> {
    let mappers: Vec<Mapper<'_>> = source.parts.iter().map(|part| Mapper::new(template, &part.layout)).collect();
    let mut rows = source.rows();
    let (mut row, mut laid_out) = (Row::default(), Row::default());
    let mut tally = Tally::default();
    let mut keys = Keys::default();
    let mut batch = Batch::default();
    let mut batch_bytes = 0;
    let mut seq: Seq = 0;
    while let Some(at) = rows.next(&mut row)? {
        let part = &source.parts[at];
        let last = if part.layout.is_report { part.layout.width } else { row.len() }.checked_sub(1);
        tally.width = tally.width.max(last.map_or(0, |last| part.places.of(last) + 1));
        let cells = cells(&row, part, &mut laid_out);
        batch.rows.push(SourceRow { number: row.number, seq, cells, sheet: source.sheet_of(part) });
        let (key, fate) = match mappers[at].map(&row) {
            Mapped::Skipped => (None, Fate::Skipped),
            Mapped::Record { key, body } => (Some(key), send(body)),
            Mapped::Rejected { key, problems } => (key, Fate::Rejected(problems.into_iter().map(problem).collect())),
        };
        let fate = overflow(&row, source, part).into_iter().fold(fate, reject);
        let fate = if rows.is_mended { reject(fate, stray_quote(&row)) } else { fate };
        let fate = match &key {
            Some(key) => keys.check(template, source, key, seq, (at, row.number), fate, &mut batch.late, &mut tally),
            None => fate,
        };
        let fate = match fate {
            Fate::Rejected(problems) => {
                Fate::Rejected(problems.into_iter().map(|problem| located(problem, source, part)).collect())
            }
            fate => fate,
        };
        tally.count(row.number, &fate);
        batch.records.push(PlannedRecord { key, rows: vec![row.number], fate, sheet: source.sheet_of(part) });
        seq += 1;
        batch_bytes += row.text_len();
        if batch.rows.len() == BATCH || batch_bytes > BATCH_BYTES {
            batch_bytes = 0;
            if !hand_on(std::mem::take(&mut batch)) {
                return Ok(tally);
            }
        }
    }
    source.check_unchanged()?;
    if seq == 0 {
        let first = &source.parts[0];
        let sheet = source.book.has_named_sheets().then(|| source.name_of(first).to_owned());
        return Err(Error::NoRows { path: source.path.clone(), sheet, header_row: first.layout.header.row });
    }
    if !batch.rows.is_empty() {
        hand_on(batch);
    }
    Ok(tally)
}

/// The keys met so far. Two rows with one key would overwrite each other in the service, and which of them is right
/// is not for a program to say: all of them are rejected.
///
/// Keys are held as 64-bit hashes under a secret of this process, so that a million of them fit in little memory. Two
/// different keys among a million share a hash once in thirty million runs, and then a row is rejected, not lost.
#[derive(Default)]
struct Keys {
    hasher: RandomState,
    met: HashMap<u64, First>,
}

/// Where a key was met first.
struct First {
    seq: u32,
    /// The place of its sheet in [`Source::parts`].
    part: u32,
    row: u32,
    /// It is planned to be sent, and would have to be taken back.
    is_to_be_sent: bool,
}

impl Keys {
    #[expect(clippy::too_many_arguments, reason = "all of it is one row's state, used once")]
    fn check(
        &mut self,
        template: &Template,
        source: &Source,
        key: &str,
        seq: Seq,
        (part, row): (usize, u64),
        fate: Fate,
        late: &mut Vec<(Seq, Problem)>,
        tally: &mut Tally,
    ) -> Fate {
        let first = match self.met.entry(self.hasher.hash_one(key)) {
            Entry::Vacant(place) => {
                place.insert(First {
                    seq: u32::try_from(seq).unwrap_or(u32::MAX),
                    part: u32::try_from(part).unwrap_or(u32::MAX),
                    row: u32::try_from(row).unwrap_or(u32::MAX),
                    is_to_be_sent: matches!(fate, Fate::Send(_)),
                });
                return fate;
            }
            Entry::Occupied(first) => first.into_mut(),
        };
        let (here, there) = (&source.parts[part], &source.parts[first.part as usize]);
        if std::mem::take(&mut first.is_to_be_sent) {
            let problem = located(duplicate(template, source, key, there, (here, row)), source, there);
            tally.take_back(u64::from(first.row), &problem);
            late.push((Seq::from(first.seq), problem));
        }
        reject(fate, duplicate(template, source, key, here, (there, u64::from(first.row))))
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
        code: "beyond-header".to_owned(),
        column: Some(column),
        header: format!("column {}", column_letters(column)),
        field: String::new(),
        value: cell.shown().into_owned(),
        sheet: String::new(),
        message: "stands beyond the header's last column".to_owned(),
        remedy: "put quotes around a value that has the delimiter in it, or give the column a header".to_owned(),
    })
}

/// A quote in the middle of a quoted value, or one that is never closed because the file was cut short.
fn stray_quote(row: &Row) -> Problem {
    let shown = row.cells().enumerate().find(|(_, cell)| cell.shown().contains('"'));
    let (column, value) =
        shown.map_or((None, String::new()), |(column, cell)| (Some(column), cell.shown().into_owned()));
    Problem {
        code: "stray-quote".to_owned(),
        column,
        header: column.map_or(String::new(), |column| format!("column {}", column_letters(column))),
        field: String::new(),
        value,
        sheet: String::new(),
        message: "has a quote in a place where none can be, so its cells may be wrong".to_owned(),
        remedy: "write a quote within quotes twice; if it is the last row, check that the file is whole".to_owned(),
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

fn duplicate(
    template: &Template,
    source: &Source,
    key: &str,
    part: &Part,
    (other, other_row): (&Part, u64),
) -> Problem {
    let field = template.record.input().key;
    let layout = &part.layout;
    let column =
        template.fields.iter().position(|rule| rule.field.name == field).and_then(|index| layout.columns[index]);
    let header = column.and_then(|column| layout.header.names.get(column)).cloned().unwrap_or_default();
    let cause = Cause::Duplicate { other_row };
    let mut problem = problem(template::Problem { column, header, field, value: key.to_owned(), cause });
    if part.sheet != other.sheet {
        problem.remedy.push_str(&format!(" of the sheet '{}'", source.name_of(other)));
    }
    problem
}

/// The problem where the ledger has the cells of its row.
fn located(problem: Problem, source: &Source, part: &Part) -> Problem {
    Problem { column: problem.column.map(|column| part.places.of(column)), sheet: source.sheet_of(part), ..problem }
}

fn problem(problem: template::Problem) -> Problem {
    Problem {
        code: problem.cause.code().to_owned(),
        column: problem.column,
        header: problem.header,
        field: problem.field.to_owned(),
        value: problem.value,
        sheet: String::new(),
        message: problem.cause.message(),
        remedy: problem.cause.remedy(),
    }
}

/// The row's cells as JSON, in the common columns; of one of our reports, the sheet's own columns alone and as they
/// were before.
fn cells(row: &Row, part: &Part, laid_out: &mut Row) -> Box<RawValue> {
    let layout = &part.layout;
    let width = if layout.is_report { layout.width.min(row.len()) } else { row.len() };
    let row = match part.places.are_moved() {
        true => {
            part.places.lay_out(row, width, laid_out);
            laid_out
        }
        false => row,
    };
    if !layout.is_report {
        return raw(serde_json::to_string(row));
    }
    let width = if part.places.are_moved() { row.len() } else { width };
    let own: Vec<Cell<'_>> = row
        .cells()
        .take(width)
        .map(|cell| match cell {
            Cell::Text(text) => Cell::Text(write::restore(text)),
            cell => cell,
        })
        .collect();
    raw(serde_json::to_string(&own))
}

fn send(body: String) -> Fate {
    match RawValue::from_string(body) {
        Ok(body) => Fate::Send(body),
        Err(error) => Fate::Rejected(vec![Problem {
            code: "unsendable".to_owned(),
            column: None,
            header: String::new(),
            field: String::new(),
            value: String::new(),
            sheet: String::new(),
            message: format!("can't be written as JSON: {error}"),
            remedy: "this is a fault of sheetport; please report it".to_owned(),
        }]),
    }
}

fn raw(json: serde_json::Result<String>) -> Box<RawValue> {
    json.and_then(RawValue::from_string).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
