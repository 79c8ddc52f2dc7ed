//! An open file and the rows of its sheets.

use super::appearance::Appearance;
use super::location::Location;
use super::report_columns::ReportColumns;
use super::text::{Dialect, Doubt, TextRows};
use super::workbook::{Workbook, WorkbookRows};
use crate::{Error, Row};

/// A file with a detected format, readable any number of times.
#[derive(Clone, Debug)]
pub struct Book {
    pub(super) location: Location,
    pub(super) sheets: Vec<String>,
    /// Whether the file names its sheets.
    pub(super) is_named: bool,
    /// The indexes of hidden sheets.
    pub(super) hidden: Vec<usize>,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Text(Dialect),
    Workbook(Workbook),
}

/// The rows of a sheet, in order. Skips blank lines of a CSV and missing rows of a workbook; see [`Row::number`]. Returns the
/// columns of a report in a fixed order, even if people have moved them.
pub struct Rows {
    source: RowSource,
    report: ReportColumns,
}

enum RowSource {
    Text(Box<TextRows>),
    Workbook(Box<WorkbookRows>),
}

impl Book {
    /// Returns the names of the sheets, in order. A CSV, or a web page with one table, has a single sheet named after the file
    /// without its extension.
    pub fn sheets(&self) -> &[String] {
        &self.sheets
    }

    /// Returns whether the sheet at `index` is hidden in spreadsheet programs.
    pub fn is_hidden(&self, index: usize) -> bool {
        self.hidden.contains(&index)
    }

    /// Returns the index of the sheet with this name, or else with this one-based number.
    ///
    /// # Errors
    /// [`Error::NoSuchSheet`] with the available names.
    pub fn find_sheet(&self, wanted: &str) -> Result<usize, Error> {
        let number = wanted.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let numbered = number.filter(|place| *place < self.sheets.len());
        self.find_named_sheet(wanted).or_else(|missing| numbered.ok_or(missing))
    }

    /// Returns the index of the sheet with this name.
    ///
    /// # Errors
    /// [`Error::NoSuchSheet`] with the available names.
    pub fn find_named_sheet(&self, name: &str) -> Result<usize, Error> {
        self.sheets.iter().position(|sheet| sheet == name).ok_or_else(|| Error::NoSuchSheet {
            path: self.location.shown.clone(),
            name: name.to_owned(),
            available: self.sheets.clone(),
        })
    }

    /// Reads up to `max_rows` rows of a sheet, fewer if they are unusually large.
    pub fn first_rows(&self, sheet: usize, max_rows: usize) -> Result<Vec<Row>, Error> {
        /// Maximum bytes of text: each row may have megabytes.
        const MAX_BYTES: usize = 16 << 20;
        let mut rows = self.rows(sheet)?;
        let (mut first, mut row, mut bytes) = (Vec::new(), Row::default(), 0);
        while first.len() < max_rows && bytes < MAX_BYTES && rows.next(&mut row)? {
            bytes += row.text_len();
            first.push(row.clone());
        }
        Ok(first)
    }

    /// Returns the sheet to read if none is named: the first visible one with rows below its first, or else the first with any row.
    ///
    /// # Errors
    /// If a sheet can't be read.
    pub fn first_filled_sheet(&self) -> Result<usize, Error> {
        let visible: Vec<usize> = (0..self.sheets.len()).filter(|sheet| !self.is_hidden(*sheet)).collect();
        let first = visible.first().copied().unwrap_or(0);
        if visible.len() < 2 {
            return Ok(first);
        }
        let mut with_a_row = None;
        for sheet in visible {
            match self.first_rows(sheet, 2)?.len() {
                0 => {}
                1 => with_a_row = with_a_row.or(Some(sheet)),
                _ => return Ok(sheet),
            }
        }
        Ok(with_a_row.unwrap_or(first))
    }

    /// Returns false for a CSV, or a web page with one table: the only sheet is named after the file.
    pub fn has_named_sheets(&self) -> bool {
        self.is_named
    }

    /// Describes the format on one line: `CSV, windows-1252, delimiter ';'` or `XLSX, 3 sheets`.
    pub fn description(&self) -> String {
        match &self.content {
            Content::Text(dialect) => {
                let delimiter = match dialect.grammar.delimiter {
                    b'\t' => "tab".to_owned(),
                    byte => format!("'{}'", char::from(byte).escape_default()),
                };
                format!("CSV, {}, delimiter {delimiter}", dialect.encoding.encoding.name())
            }
            Content::Workbook(workbook) => match self.sheets.len() {
                1 => format!("{}, 1 sheet", workbook.description()),
                count => format!("{}, {count} sheets", workbook.description()),
            },
        }
    }

    /// Returns the dialect of a text, or `None` for a workbook.
    pub fn dialect(&self) -> Option<&Dialect> {
        match &self.content {
            Content::Text(dialect) => Some(dialect),
            Content::Workbook(_) => None,
        }
    }

    /// Reads the sheet at `index` of [`Book::sheets`].
    ///
    /// # Errors
    /// [`Error::NoSuchSheet`] for an invalid index; [`Error::Open`] if the file no longer exists.
    pub fn rows(&self, index: usize) -> Result<Rows, Error> {
        let Some(sheet) = self.sheets.get(index) else {
            let (path, name) = (self.location.shown.clone(), (index + 1).to_string());
            return Err(Error::NoSuchSheet { path, name, available: self.sheets.clone() });
        };
        let source = match &self.content {
            Content::Text(dialect) => {
                RowSource::Text(Box::new(TextRows::open(&self.location.at, &self.location.shown, *dialect)?))
            }
            Content::Workbook(workbook) => RowSource::Workbook(Box::new(workbook.rows(index, sheet)?)),
        };
        Ok(Rows { source, report: ReportColumns::default() })
    }
}

impl Rows {
    /// Reads the next row into `row`. Returns false at the end.
    ///
    /// # Errors
    /// [`Error::Unreadable`] with the row. No rows can be read after an error.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        let has_row = match &mut self.source {
            RowSource::Text(rows) => rows.next(row),
            RowSource::Workbook(rows) => rows.next(row),
        }?;
        if has_row {
            self.report.arrange(row);
        }
        Ok(has_row)
    }

    /// Returns how spreadsheet programs show the sheet, once all rows were read.
    pub fn appearance(&self) -> &Appearance {
        static PLAIN: Appearance = Appearance::plain();
        match &self.source {
            RowSource::Text(_) => &PLAIN,
            RowSource::Workbook(rows) => rows.appearance(),
        }
    }

    /// Returns why the cells of the last row may be wrong, if so.
    pub fn doubt(&self) -> Option<Doubt> {
        match &self.source {
            RowSource::Text(rows) => rows.doubt(),
            RowSource::Workbook(_) => None,
        }
    }

    /// Returns the number of rows so far with a quote in an invalid position, which was read as text.
    pub fn rows_with_stray_quotes(&self) -> u64 {
        match &self.source {
            RowSource::Text(rows) => rows.rows_with_stray_quotes(),
            RowSource::Workbook(_) => 0,
        }
    }
}
