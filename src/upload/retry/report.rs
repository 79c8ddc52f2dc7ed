//! A report that a person hands back, before it is known which template reads it: which of its sheets have our columns,
//! and which runs their rows name.

use std::collections::HashMap;
use std::path::Path;

use crate::sheet::write::is_cut;
use crate::sheet::{self, Book, Cell, Row};
use crate::template::bind::{our_column, report_header};
use crate::upload::error::Error;
use crate::upload::source::top;

/// Names of runs that are told apart. A report has one; more than this were not written by us.
const MOST_NAMES: usize = 1_000;

#[derive(Debug)]
pub struct Report {
    pub book: Book,
    /// The sheets that have our columns, by their place in the book; a first sheet that sums up has none.
    pub sheets: Vec<usize>,
    /// The column of ours that a report can't do without, where a sheet has others of ours and not that one.
    pub missing: Option<&'static str>,
    /// Whether all of them have the column that names a row's sheet in the first file.
    pub names_sheets: bool,
    /// What the rows say of their run, the most frequent first, with how many say so.
    pub runs: Vec<(String, u64)>,
    /// Rows that say where they stood and not in which run, as in the report of a check.
    pub without_run: u64,
    /// Whether a cell bears the mark of a text that a workbook cut.
    pub has_cut: bool,
}

impl Report {
    /// Looks through the file at `at`, which messages call `path`.
    pub fn open(at: &Path, path: &Path, options: &sheet::Options) -> Result<Report, Error> {
        let told = |error: sheet::Error| Error::from(error.of_file(path));
        let book = sheet::open(at, options).map_err(told)?;
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
            let Some(header) = report_header(&top(&book, sheet).map_err(told)?) else { continue };
            found.sheets.push(sheet);
            let column = |name| our_column(&header.names, name);
            found.names_sheets &= column("sheet").is_some();
            let (Some(run), Some(row)) = (column("run"), column("row")) else {
                let missing = if column("run").is_none() { "sheetport_run" } else { "sheetport_row" };
                found.missing = found.missing.or(Some(missing));
                continue;
            };
            let mut rows = book.rows(sheet).map_err(told)?;
            while rows.next(&mut cells).map_err(told)? {
                if cells.number <= header.row || cells.is_blank() {
                    continue;
                }
                found.has_cut |= cells.cells().any(|cell| matches!(cell, Cell::Text(text) if is_cut(text)));
                let name = cells.get(run).shown().trim().to_owned();
                if name.is_empty() {
                    found.without_run += u64::from(!cells.get(row).is_blank());
                } else if runs.len() < MOST_NAMES || runs.contains_key(&name) {
                    *runs.entry(name).or_default() += 1;
                }
            }
        }
        found.runs = runs.into_iter().collect();
        found.runs.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        Ok(found)
    }
}
