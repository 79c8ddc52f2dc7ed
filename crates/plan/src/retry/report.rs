//! Inspecting a report before choosing the template: the sheets with our columns, and the runs of the rows.

use std::collections::HashMap;
use std::path::Path;

use sheetport_ledger::{CHECK, REHEARSAL};
use sheetport_mapping::bind::{HEADER_SEARCH_ROWS, report_column, report_header};
use sheetport_sheet::write::is_cut;
use sheetport_sheet::{self as sheet, Book, Cell, Row};

use crate::error::Error;

/// Maximum number of different run names. A report has a single name; files with more are not reports.
const MAX_NAMES: usize = 1_000;

#[derive(Debug)]
pub struct Report {
    pub book: Book,
    /// The indexes of the sheets with our columns; a summary sheet has no such columns.
    pub sheets: Vec<usize>,
    /// A required column of ours, missing in a sheet with our columns.
    pub missing: Option<&'static str>,
    /// Whether all sheets have the column with the original sheet of each row.
    pub names_sheets: bool,
    /// The run names with the number of rows, most frequent first.
    pub runs: Vec<(String, u64)>,
    /// The number of rows with a row number but no run, as in the report of a check.
    pub without_run: u64,
    /// Whether a cell has the mark of a text cut for a workbook.
    pub has_cut: bool,
}

impl Report {
    /// Whether the report is from a rehearsal. Rehearsals are in no ledger.
    pub fn is_of_rehearsal(&self) -> bool {
        matches!(self.runs.as_slice(), [(name, _)] if name == REHEARSAL)
    }

    /// Reads the file `at`. Messages show `path`.
    pub fn open(at: &Path, path: &Path, options: &sheet::Options) -> Result<Report, Error> {
        let of_file = |error: sheet::Error| Error::from(error.of_file(path));
        let book = sheet::open(at, options).map_err(of_file)?;
        let mut found = Report {
            book: book.clone(),
            sheets: Vec::new(),
            missing: None,
            names_sheets: true,
            runs: Vec::new(),
            without_run: 0,
            has_cut: false,
        };
        let mut runs: HashMap<String, u64> = HashMap::new();
        let mut cells = Row::default();
        for sheet in 0..book.sheets().len() {
            let Some(header) = report_header(&book.first_rows(sheet, HEADER_SEARCH_ROWS).map_err(of_file)?) else {
                continue;
            };
            found.sheets.push(sheet);
            let column = |name| report_column(&header.names, name);
            found.names_sheets &= column("sheet").is_some();
            let (Some(run), Some(row)) = (column("run"), column("row")) else {
                let missing = if column("run").is_none() { "sheetport_run" } else { "sheetport_row" };
                found.missing = found.missing.or(Some(missing));
                continue;
            };
            let mut rows = book.rows(sheet).map_err(of_file)?;
            while rows.next(&mut cells).map_err(of_file)? {
                if cells.number <= header.row || cells.is_blank() {
                    continue;
                }
                found.has_cut |= cells.cells().any(|cell| matches!(cell, Cell::Text(text) if is_cut(text)));
                let name = cells.get(run).shown();
                // The report of a check or rehearsal says after its name which cells have to be edited.
                let name = name.split_whitespace().next().unwrap_or_default().to_owned();
                if name.is_empty() || name == CHECK {
                    found.without_run += u64::from(!cells.get(row).is_blank());
                } else if runs.len() < MAX_NAMES || runs.contains_key(&name) {
                    *runs.entry(name).or_default() += 1;
                }
            }
        }
        found.runs = runs.into_iter().collect();
        found.runs.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        Ok(found)
    }
}
