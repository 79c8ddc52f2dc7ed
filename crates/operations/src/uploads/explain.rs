//! Explains how a row of a spreadsheet becomes a request.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use sheetport_ledger::{Disposition, PlannedRecord, Problem, RecordState, Seq};
use sheetport_mapping::map::explain::{Explained, explain as explain_fields};
use sheetport_mapping::model::same_header;
use sheetport_mapping::{Mapper, Template};
use sheetport_plan::Source;
use sheetport_plan::plan::{ColumnProfile, ReadMode, Table, column_profile, read, survey};
use sheetport_sheet::Row;
use sheetport_sheet::cell::column_index;

use super::super::error::Error;
use super::super::files::{InputFile, Spreadsheet};
use super::preview::{PreviewedRequest, request_of};

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
    /// The record of the row, or the records of its cells. Never empty.
    pub records: Vec<ExplainedRecord>,
}

/// The mapping of a record, and the planned outcome.
#[derive(Debug)]
pub struct ExplainedRecord {
    /// The column of the cell, if every cell of the row is a separate record.
    pub cell: Option<usize>,
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

/// Explains one row. Reads the whole file, because other rows may belong to the same record or have the same key.
pub fn explain(input: &Spreadsheet<'_>, wanted: &RowName) -> Result<Explanation, Error> {
    let (source, template) = (input.open()?, &input.template);
    let found = find(&source, wanted)?.ok_or_else(|| no_such_row(&source, input.file, wanted))?;
    let surveys = survey(&source, template)?;
    let table = &source.tables[found.table];
    let survey = &surveys[found.table];
    let outcomes = planned_outcomes(&source, template, found.position)?;
    let records = outcomes.into_iter().map(|(cell, outcome)| {
        let cells = table.layout.cells.iter().zip(&table.cells);
        let mut of_cell = cells.filter(|(of_cell, _)| {
            let name = source.header.get(table.columns.of(of_cell.column)).map(|name| name.trim());
            cell.is_some() && name == cell.as_deref()
        });
        let (column, layout) =
            of_cell.next().map_or((None, &table.layout), |(cell, layout)| (Some(cell.column), layout));
        let fields = explain_fields(&Mapper::new(found.table, template, layout, survey), &found.row);
        ExplainedRecord { cell: column, fields, outcome }
    });
    Ok(Explanation {
        row: found.row.number,
        sheet: source.sheet_of(table),
        header: table.layout.header.names.clone(),
        group: table.layout.group.iter().map(|column| (*column, found.row.get(*column).shown().into_owned())).collect(),
        records: records.collect(),
    })
}

/// A column, and what is known about it.
#[derive(Debug)]
pub struct ColumnExplanation {
    /// From 0.
    pub column: usize,
    pub header: String,
    /// Empty if a single sheet is read.
    pub sheet: String,
    /// The fields that get its values.
    pub fields: Vec<&'static str>,
    pub profile: ColumnProfile,
}

/// Explains what is known about a column, by its header or its letters. With several sheets, the first that has the column.
pub fn explain_column(input: &Spreadsheet<'_>, wanted: &str) -> Result<ColumnExplanation, Error> {
    let (source, template) = (input.open()?, &input.template);
    let named = |table: &Table| table.layout.header.names.iter().position(|name| same_header(name, wanted));
    let mut tables = source.tables.iter().enumerate();
    let by_name = tables.find_map(|(place, table)| Some((place, named(table)?)));
    let is_there = |column: &usize| source.tables.first().is_some_and(|table| *column < table.layout.width);
    let by_letters = || column_index(&wanted.trim().to_ascii_uppercase()).filter(is_there);
    let found = by_name.or_else(|| Some((0, by_letters()?)));
    let Some((place, column)) = found else {
        let names = source.tables.iter().flat_map(|table| &table.layout.header.names);
        let known: Vec<&str> = names.map(|name| name.trim()).collect();
        let message = format!("the file has no column '{wanted}'; its columns are: {}", known.join(", "));
        return Err(Error::invalid(message, "name one of its columns, or its letters"));
    };
    let table = &source.tables[place];
    let reads = |rule: usize| table.layout.columns_of(rule).into_iter().any(|read| read == column);
    let rules = template.rules().enumerate().filter(|(rule, _)| reads(*rule));
    Ok(ColumnExplanation {
        column,
        header: table.layout.header.names.get(column).map(|name| name.trim().to_owned()).unwrap_or_default(),
        sheet: source.sheet_of(table),
        fields: rules.map(|(_, rule)| rule.field.name).collect(),
        profile: column_profile(&source, template, place, column)?,
    })
}

struct FoundRow {
    table: usize,
    /// Position among all data rows, from 0.
    position: u64,
    row: Row,
}

fn find(source: &Source, wanted: &RowName) -> Result<Option<FoundRow>, Error> {
    let mut rows = source.rows();
    let mut row = Row::default();
    let mut position = 0;
    while let Some(table) = rows.next(&mut row)? {
        let is_in = |sheet: &String| source.name_of(&source.tables[table]) == *sheet;
        if row.number == wanted.number && wanted.sheet.as_ref().is_none_or(is_in) {
            return Ok(Some(FoundRow { table, position, row }));
        }
        position += 1;
    }
    Ok(None)
}

fn no_such_row(source: &Source, file: &InputFile, wanted: &RowName) -> Error {
    let sheets: Vec<&str> = source.tables.iter().map(|table| source.name_of(table)).collect();
    let hint = match &wanted.sheet {
        Some(sheet) if !sheets.contains(&sheet.as_str()) => {
            format!("the file is read from: {}; choose other sheets with --sheet", sheets.join(", "))
        }
        _ => "count rows as the spreadsheet program does; the header and blank rows can't be explained".to_owned(),
    };
    Error::invalid(format!("{} has no data in row {wanted}", file.name.display()), hint)
}

/// A value for the record of a row or of a cell. For a cell, includes the name of its column.
type OfCell<T> = (Option<Box<str>>, T);

/// Returns the planned outcomes of the data row at `position`: one for the record of the row, or one for each cell, with the name
/// of its column.
fn planned_outcomes(source: &Source, template: &Template, position: u64) -> Result<Vec<OfCell<PlannedOutcome>>, Error> {
    let (mut rows, mut records) = (0, 0);
    let mut last: Option<(u64, String)> = None;
    let mut wanted: Vec<OfCell<Seq>> = Vec::new();
    let mut planned: HashMap<Seq, PlannedRecord> = HashMap::new();
    let mut revoked: HashMap<Seq, (RecordState, Problem)> = HashMap::new();
    read(source, template, ReadMode::Records, |batch| {
        if batch.restarts {
            (rows, records, last) = (0, 0, None);
            wanted.clear();
            planned.clear();
            revoked.clear();
        }
        for row in batch.rows {
            let place = Some((row.number, row.sheet));
            rows += u64::from(last != place);
            last = place;
            if rows == position + 1 {
                wanted.push((row.cell, row.seq));
            }
        }
        for record in batch.records {
            if wanted.iter().any(|(_, seq)| *seq == records) {
                planned.insert(records, record);
            }
            records += 1;
        }
        // As in the ledger, the first problem of a withdrawn record counts.
        for withdrawal in batch.withdrawn {
            if wanted.iter().any(|(_, seq)| *seq == withdrawal.seq) {
                revoked.entry(withdrawal.seq).or_insert((withdrawal.state, withdrawal.problem));
            }
        }
        true
    })?;
    let mut outcome = |seq: Seq| {
        let Some(record) = planned.remove(&seq) else { return PlannedOutcome::Skipped(None) };
        match (revoked.remove(&seq), &record.disposition) {
            (Some((RecordState::Skipped, problem)), _) => PlannedOutcome::Skipped(Some(own_column(source, problem))),
            (Some((_, problem)), _) => PlannedOutcome::Rejected(vec![own_column(source, problem)]),
            (None, Disposition::Rejected(problems)) => {
                PlannedOutcome::Rejected(problems.iter().map(|problem| own_column(source, problem.clone())).collect())
            }
            (None, Disposition::Skipped(reason)) => PlannedOutcome::Skipped(Some(Problem::of_skipped(*reason))),
            (None, Disposition::AcceptedEarlier(_)) => PlannedOutcome::Skipped(None),
            (None, Disposition::Send(_)) => {
                let request =
                    request_of(template.record, &record).expect("only records with a call are planned to be sent");
                PlannedOutcome::Request { request, rows: record.rows }
            }
        }
    };
    Ok(wanted.into_iter().map(|(cell, seq)| (cell, outcome(seq))).collect())
}

/// Converts the problem's column from the common layout of several sheets to the sheet of the cell.
fn own_column(source: &Source, problem: Problem) -> Problem {
    let table = source.tables.iter().find(|table| source.sheet_of(table) == problem.sheet);
    let own = |column| {
        let Some(table) = table else { return column };
        (0..=table.layout.width.max(column)).find(|own| table.columns.of(*own) == column).unwrap_or(column)
    };
    Problem { column: problem.column.map(own), ..problem }
}
