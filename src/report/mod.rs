//! A run's outcomes as a spreadsheet: the original columns in their order, then ours.
//!
//! A report is made from the ledger alone; the file that was uploaded is not needed any more.

mod outcome;
pub use outcome::RecordState;

use std::path::{Path, PathBuf};

use outcome::Outcomes;

use crate::ledger::{self, Ledger, Problem, Run, SourceRow};
use crate::sheet::write::{Existing, Format, Mark, Table};
use crate::sheet::{self, Cell, OUR_PREFIX, Row, column_letters, json};

/// Our columns, in their order, without the prefix.
const COLUMNS: &[&str] =
    &["status", "errors", "field", "service_id", "ctx_id", "job_id", "http_status", "attempts", SHEET, "row", "run"];

/// Only where the run read several sheets.
const SHEET: &str = "sheet";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("the ledger holds a row {0} that this version can't read")]
    Corrupt(u64),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Ledger(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Corrupt(_) => Some("use the version of sheetport that made the run".to_owned()),
        }
    }
}

/// Which rows a report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    All,
    /// Rows that a person has to look at: rejected, failed, unknown and pending.
    Problems,
    State(RecordState),
}

impl Only {
    /// Names for the command line.
    pub const NAMES: &'static [&'static str] =
        &["all", "problems", "sent", "unchanged", "skipped", "rejected", "failed", "unknown", "pending"];

    pub fn from_name(name: &str) -> Option<Only> {
        match name {
            "all" => Some(Only::All),
            "problems" => Some(Only::Problems),
            name => RecordState::from_name(name).map(Only::State),
        }
    }

    fn takes(self, state: RecordState) -> bool {
        match self {
            Only::All => true,
            Only::Problems => state.is_problem(),
            Only::State(wanted) => state == wanted,
        }
    }
}

/// A report that was written.
#[derive(Debug)]
pub struct Written {
    pub path: PathBuf,
    pub rows: u64,
}

/// Writes the report of `run` to `path`.
pub async fn write(
    ledger: &Ledger,
    run: &Run,
    path: &Path,
    format: Format,
    existing: Existing,
    only: Only,
) -> Result<Written, Error> {
    let ours = COLUMNS.iter().filter(|name| run.about.reads_several_sheets() || **name != SHEET);
    let ours: Vec<String> = ours.map(|name| format!("{OUR_PREFIX}{name}")).collect();
    let header: Vec<&str> = run.about.header.iter().chain(&ours).map(String::as_str).collect();
    let sheet = if run.about.reads_several_sheets() { "Rows" } else { &run.about.sheet };
    let mut table = Table::create(path, format, existing, sheet, &header)?;
    let mut outcomes = Outcomes::new(ledger, run.id);
    let mut written = 0;
    let mut from = 0;
    while let Some((first, rows)) = ledger.source_block(run.id, from).await? {
        from = first + rows.len() as i64;
        for row in rows {
            let outcome = outcomes.of(row.seq).await?;
            if only.takes(outcome.state) {
                write_row(&mut table, run, &row, outcome)?;
                written += 1;
            }
        }
    }
    Ok(Written { path: table.finish()?, rows: written })
}

/// What the service said of the first records that it refused, with the row that each began on and the header of the
/// column that its field came from. At most `limit` records.
pub async fn refused(ledger: &Ledger, run: &Run, limit: u32) -> Result<Vec<(u64, Problem)>, Error> {
    let mut said = Vec::new();
    let mut outcomes = Outcomes::new(ledger, run.id);
    for seq in ledger.failed(run.id, limit).await? {
        let outcome = outcomes.of(seq).await?;
        let row = outcome.rows.first().copied().unwrap_or_default();
        for problem in &outcome.problems {
            let column = column_of(problem, run);
            let header = column.and_then(|column| run.about.header.get(column)).cloned().unwrap_or_default();
            said.push((row, Problem { header, sheet: outcome.sheet.clone(), ..problem.clone() }));
        }
    }
    Ok(said)
}

/// The column at fault: the one that the problem names, or the one that its field came from.
fn column_of(problem: &Problem, run: &Run) -> Option<usize> {
    let by_field = || run.about.columns.iter().find(|(field, _)| *field == problem.field).map(|(_, column)| *column);
    problem.column.or_else(by_field)
}

fn write_row(table: &mut Table, run: &Run, source: &SourceRow, outcome: &outcome::RecordOutcome) -> Result<(), Error> {
    let mut row = Row::default();
    json::read_row(source.number, source.cells.get(), &mut row).ok_or(Error::Corrupt(source.number))?;
    let width = run.about.header.len();
    row.pad(width);
    let texts: Vec<String> =
        outcome.problems.iter().map(|problem| in_words(problem, run, column_of(problem, run))).collect();
    let mut fields: Vec<&str> =
        outcome.problems.iter().map(|problem| problem.field.as_str()).filter(|field| !field.is_empty()).collect();
    fields.dedup();
    let errors = texts.join("; ");
    let fields = fields.join(", ");
    let number = |number: Option<f64>| number.map_or(Cell::Blank, Cell::Number);
    let mut cells: Vec<Cell<'_>> = row.cells().collect();
    cells.extend([
        Cell::Text(outcome.state.name()),
        Cell::Text(&errors),
        Cell::Text(&fields),
        Cell::Text(outcome.service_id.as_deref().unwrap_or("")),
        Cell::Text(outcome.ctx_id.as_deref().unwrap_or("")),
        Cell::Text(outcome.job_id.as_deref().unwrap_or("")),
        number(outcome.http_status.map(f64::from)),
        number(outcome.attempts.map(f64::from)),
    ]);
    cells.extend(run.about.reads_several_sheets().then_some(Cell::Text(&source.sheet)));
    cells.extend([Cell::Number(source.number as f64), Cell::Number(run.id as f64)]);
    let marks = outcome
        .problems
        .iter()
        .zip(&texts)
        .filter_map(|(problem, note)| Some(Mark { column: column_of(problem, run)?, note }));
    table.row(&cells, &marks.collect::<Vec<_>>())?;
    Ok(())
}

/// The problem as one sentence: where, what, and what to do.
fn in_words(problem: &Problem, run: &Run, column: Option<usize>) -> String {
    const SHOWN: usize = 60;
    let header = column.and_then(|column| run.about.header.get(column)).filter(|header| !header.is_empty());
    let mut words = match (header, column) {
        (Some(header), _) => header.clone(),
        (None, Some(column)) => format!("column {}", column_letters(column)),
        (None, None) => problem.field.clone(),
    };
    if !problem.value.is_empty() {
        let shown: String = problem.value.chars().take(SHOWN).collect();
        let cut = if shown.len() < problem.value.len() { "…" } else { "" };
        words.push_str(&format!(" '{shown}{cut}'"));
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
