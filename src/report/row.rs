//! A row of a report: the cells of its source, what became of its record, and what is wrong with it, in words.

use std::borrow::Cow;

use super::outcome::RecordOutcome;
use super::{CHECK, Error, Only, ahead};
use crate::ledger::{Ledger, Problem, Run, SourceRow};
use crate::sheet::{Cell, OUR_PREFIX, Row, column_letters};

/// Characters of a value that are shown.
const SHOWN: usize = 60;

/// Our columns, in their order, without the prefix.
const COLUMNS: &[&str] =
    &["status", "errors", "field", "service_id", "ctx_id", "job_id", "http_status", "attempts", SHEET, "row", "run"];

/// The places among our columns of what became of the row, and of what is wrong with it.
pub(super) const STATUS: usize = 0;
pub(super) const ERRORS: usize = 1;

/// Only where the run read several sheets.
const SHEET: &str = "sheet";

/// A row of the sheet and what became of it.
pub(super) struct ReportRow<'a> {
    pub run: &'a Run,
    /// The row that it was in the file.
    pub source: &'a SourceRow<'a>,
    /// The cells of the sheet's own columns, at least as many as the header has.
    pub cells: &'a Row,
    pub outcome: RecordOutcome<'a>,
    /// The run as the report names it.
    pub token: &'a str,
    /// What is wrong with this row; what is wrong with another row of its record is left to that one.
    pub faults: Vec<Fault<'a>>,
}

/// A problem where the report shows it.
pub(super) struct Fault<'a> {
    pub problem: &'a Problem,
    /// Among the sheet's own columns, from 0.
    pub column: Option<usize>,
    /// Where, what, and what to do.
    pub words: String,
}

/// The names of our columns for `run`, with the prefix.
pub(super) fn our_header(run: &Run) -> Vec<String> {
    let names = COLUMNS.iter().filter(|name| run.about.reads_several_sheets() || **name != SHEET);
    names.map(|name| format!("{OUR_PREFIX}{name}")).collect()
}

/// Hands the rows of `run` that `only` takes to `take`, in the order of the sheet, and counts them.
pub(super) async fn each_row(
    ledger: &Ledger,
    run: &Run,
    only: Only,
    mut take: impl FnMut(&ReportRow<'_>) -> Result<(), Error>,
) -> Result<u64, Error> {
    // A check is in no ledger that lasts, and its number would be taken for another run's.
    let token = if run.about.command == CHECK { String::new() } else { run.token() };
    let (mut windows, reader) = ahead::read(ledger, run.id);
    let mut cells = Row::default();
    let mut taken = 0;
    while let Some(window) = windows.recv().await {
        for (source, outcome) in window.rows() {
            if !only.takes(outcome.state()) {
                continue;
            }
            cells.decode_one(&source.cells).ok_or(Error::Corrupt(source.number))?;
            cells.pad(run.about.header.len());
            let faults = faults(run, &source, outcome);
            take(&ReportRow { run, source: &source, cells: &cells, outcome, token: &token, faults })?;
            taken += 1;
        }
    }
    reader.end().await?;
    Ok(taken)
}

impl ReportRow<'_> {
    /// Whether it is the first row of its record, at which problems of the record as a whole are counted.
    pub fn is_first(&self) -> bool {
        self.outcome.trouble().is_none_or(|trouble| {
            let is_its_sheet = self.source.sheet == trouble.sheet;
            is_its_sheet && trouble.rows.first().is_none_or(|first| *first == self.source.number)
        })
    }

    /// All that is wrong with it, as one text.
    pub fn errors(&self) -> String {
        if self.outcome.problems().is_empty() {
            return String::new();
        }
        let texts: Vec<&str> = self.faults.iter().map(|fault| fault.words.as_str()).collect();
        match self.outcome.problems().first().and_then(|problem| problem.row) {
            Some(row) if texts.is_empty() => format!("another row of this record is wrong: row {row}"),
            _ => texts.join("; "),
        }
    }

    /// The fields at fault, as one text.
    pub fn fields(&self) -> String {
        let mut fields: Vec<&str> =
            self.faults.iter().map(|fault| fault.problem.field.as_str()).filter(|field| !field.is_empty()).collect();
        fields.dedup();
        fields.join(", ")
    }

    /// The cells of our columns, as [`our_header`] names them; `errors` and `fields` are this row's.
    pub fn ours<'b>(&'b self, errors: &'b str, fields: &'b str) -> impl Iterator<Item = Cell<'b>> {
        let number = |number: Option<f64>| number.map_or(Cell::Blank, Cell::Number);
        let outcome = self.outcome;
        let sheet = self.run.about.reads_several_sheets().then_some(Cell::Text(&self.source.sheet));
        [
            Cell::Text(outcome.state().name()),
            Cell::Text(errors),
            Cell::Text(fields),
            Cell::Text(outcome.service_id().unwrap_or("")),
            Cell::Text(outcome.ctx_id().unwrap_or("")),
            Cell::Text(outcome.job_id().unwrap_or("")),
            number(outcome.http_status().map(f64::from)),
            number(outcome.attempts().map(f64::from)),
        ]
        .into_iter()
        .chain(sheet)
        .chain([Cell::Number(self.source.number as f64), Cell::Text(self.token)])
    }
}

fn faults<'a>(run: &Run, source: &SourceRow<'_>, outcome: RecordOutcome<'a>) -> Vec<Fault<'a>> {
    if outcome.problems().is_empty() {
        return Vec::new();
    }
    let is_of_row =
        |problem: &&Problem| problem.row.is_none_or(|row| row == source.number && problem.sheet == source.sheet);
    let of_row = outcome.problems().iter().filter(is_of_row);
    of_row
        .map(|problem| {
            let column = column_of(problem, run);
            Fault { problem, column, words: in_words(problem, run) }
        })
        .collect()
}

/// The column at fault: the one that the problem names, or the one that its field came from.
pub(super) fn column_of(problem: &Problem, run: &Run) -> Option<usize> {
    let by_field = || run.about.columns.iter().find(|(field, _)| *field == problem.field).map(|(_, column)| *column);
    problem.column.or_else(by_field)
}

/// What the place of a problem is called: its column's header or letters, otherwise its field.
pub(super) fn place_of(problem: &Problem, run: &Run) -> String {
    let column = column_of(problem, run);
    let header = column.and_then(|column| run.about.header.get(column)).filter(|header| !header.is_empty());
    match (header, column) {
        (Some(header), _) => header.clone(),
        (None, Some(column)) => format!("column {}", column_letters(column)),
        (None, None) => problem.field.clone(),
    }
}

/// As much of a value as is shown within a sentence.
pub(super) fn shown(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &value[..end])),
        None => Cow::Borrowed(value),
    }
}

/// The problem as one sentence: where, what, and what to do.
fn in_words(problem: &Problem, run: &Run) -> String {
    let mut words = place_of(problem, run);
    if !problem.value.is_empty() {
        words.push_str(&format!(" '{}'", shown(&problem.value)));
    }
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(&problem.message);
    if !problem.remedy.is_empty() {
        words.push_str(&format!(" ({})", problem.remedy));
    }
    words
}
