//! Explaining how one row of a spreadsheet becomes a request.

use std::fmt;
use std::str::FromStr;

use super::check::{PreviewedRequest, request_of};
use super::error::Error;
use super::input::{InputFile, Spreadsheet};
use crate::ledger::{Disposition, PlannedRecord, Problem, RecordState};
use crate::sheet::Row;
use crate::template::map::explain::{Explained, explain as explain_fields};
use crate::template::{Mapper, Template};
use crate::upload::Source;
use crate::upload::plan::{ReadMode, read, survey};

/// A row number, with a sheet if several sheets are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowName {
    pub sheet: Option<String>,
    pub number: u64,
}

/// The mapping of a row, and the outcome of the record.
#[derive(Debug)]
pub struct Explanation {
    pub row: u64,
    /// Empty if a single sheet is read.
    pub sheet: String,
    pub header: Vec<String>,
    /// The columns of `group.by`, each with the text of the cell.
    pub group: Vec<(usize, String)>,
    pub fields: Vec<Explained>,
    pub outcome: PlannedOutcome,
}

/// The outcome that an upload would plan for the record of a row.
#[derive(Debug)]
pub enum PlannedOutcome {
    /// The template skips the row, or another record with the same key is sent instead.
    Skipped(Option<Problem>),
    Request {
        request: PreviewedRequest,
        rows: Vec<u64>,
    },
    Rejected(Vec<Problem>),
}

impl FromStr for RowName {
    type Err = &'static str;

    /// Parses `17` and `South!17`. Quotes around the sheet are optional.
    fn from_str(text: &str) -> Result<RowName, &'static str> {
        let (sheet, number) = match text.rsplit_once('!') {
            Some((sheet, number)) => (Some(sheet), number),
            None => (None, text),
        };
        let number = number.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or("expected a row number such as 17, or a sheet and a row such as South!17")?;
        let unquoted = |name: &str| match name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
            Some(name) => name.replace("''", "'"),
            None => name.to_owned(),
        };
        Ok(RowName { sheet: sheet.map(unquoted), number })
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sheet {
            Some(sheet) => write!(f, "{} of the sheet '{sheet}'", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// Explains one row. Reads the whole file, because other rows can belong to the same record or repeat the key.
pub fn explain(input: &Spreadsheet<'_>, wanted: &RowName) -> Result<Explanation, Error> {
    let (source, template) = (input.open()?, &input.template);
    let found = find(&source, wanted)?.ok_or_else(|| no_such_row(&source, input.file, wanted))?;
    let surveys = survey(&source, template)?;
    let part = &source.parts[found.part];
    let mapper = Mapper::new(found.part, template, &part.layout, &surveys[found.part]);
    Ok(Explanation {
        row: found.row.number,
        sheet: source.sheet_of(part),
        header: part.layout.header.names.clone(),
        group: part.layout.group.iter().map(|column| (*column, found.row.get(*column).shown().into_owned())).collect(),
        fields: explain_fields(&mapper, &found.row),
        outcome: planned_outcome(&source, template, found.position)?,
    })
}

struct FoundRow {
    part: usize,
    /// Position among all data rows, from 0.
    position: u64,
    row: Row,
}

fn find(source: &Source, wanted: &RowName) -> Result<Option<FoundRow>, Error> {
    let mut rows = source.rows();
    let mut row = Row::default();
    let mut position = 0;
    while let Some(part) = rows.next(&mut row)? {
        let is_in = |sheet: &String| source.name_of(&source.parts[part]) == *sheet;
        if row.number == wanted.number && wanted.sheet.as_ref().is_none_or(is_in) {
            return Ok(Some(FoundRow { part, position, row }));
        }
        position += 1;
    }
    Ok(None)
}

fn no_such_row(source: &Source, file: &InputFile, wanted: &RowName) -> Error {
    let sheets: Vec<&str> = source.parts.iter().map(|part| source.name_of(part)).collect();
    let hint = match &wanted.sheet {
        Some(sheet) if !sheets.contains(&sheet.as_str()) => {
            format!("the file is read from: {}; choose other sheets with --sheet", sheets.join(", "))
        }
        _ => "count rows as the spreadsheet program does; the header and blank rows can't be explained".to_owned(),
    };
    Error::invalid(format!("{} has no data in row {wanted}", file.name.display()), hint)
}

/// Returns the planned outcome for the record of the data row at `position`.
fn planned_outcome(source: &Source, template: &Template, position: u64) -> Result<PlannedOutcome, Error> {
    let (mut rows, mut records) = (0, 0);
    let mut seq = None;
    let mut planned: Option<PlannedRecord> = None;
    let mut revoked = None;
    read(source, template, ReadMode::Records, |batch| {
        if batch.restarts {
            (rows, records, seq, planned, revoked) = (0, 0, None, None, None);
        }
        if let Some(place) = position.checked_sub(rows).and_then(|place| usize::try_from(place).ok()) {
            seq = seq.or(batch.rows.get(place).map(|row| row.seq));
        }
        rows += batch.rows.len() as u64;
        for record in batch.records {
            if seq == Some(records) {
                planned = Some(record);
            }
            records += 1;
        }
        // The ledger keeps the first problem of a record that later rows revoke.
        for withdrawal in batch.withdrawn {
            if seq == Some(withdrawal.seq) && revoked.is_none() {
                revoked = Some((withdrawal.state, withdrawal.problem));
            }
        }
        true
    })?;
    let Some(record) = planned else { return Ok(PlannedOutcome::Skipped(None)) };
    Ok(match (revoked, &record.disposition) {
        (Some((RecordState::Skipped, problem)), _) => PlannedOutcome::Skipped(Some(own_column(source, problem))),
        (Some((_, problem)), _) => PlannedOutcome::Rejected(vec![own_column(source, problem)]),
        (None, Disposition::Rejected(problems)) => {
            PlannedOutcome::Rejected(problems.iter().map(|problem| own_column(source, problem.clone())).collect())
        }
        (None, Disposition::Skipped(reason)) => PlannedOutcome::Skipped(Some(reason.problem())),
        (None, Disposition::AcceptedEarlier(_)) => PlannedOutcome::Skipped(None),
        (None, Disposition::Send(_)) => {
            let request =
                request_of(template.record, &record).expect("only records with a call are planned to be sent");
            PlannedOutcome::Request { request, rows: record.rows }
        }
    })
}

/// Converts the problem's column from the common layout of several sheets to the sheet of the cell.
fn own_column(source: &Source, problem: Problem) -> Problem {
    let part = source.parts.iter().find(|part| source.sheet_of(part) == problem.sheet);
    let own = |column| {
        let Some(part) = part else { return column };
        (0..=part.layout.width.max(column)).find(|own| part.columns.of(*own) == column).unwrap_or(column)
    };
    Problem { column: problem.column.map(own), ..problem }
}
