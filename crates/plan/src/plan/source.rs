//! The input file of an upload: sheets, and the columns of the template in each sheet.
//!
//! Most uploads read a single sheet. Several sheets are read in order, each with a header; the rows are stored in
//! common columns (`columns`), and reports are a single table.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sheetport_files::digest;
use sheetport_findings::{Asks, Code};
use sheetport_ledger::{Problem, TextForm};
use sheetport_mapping::bind::{HEADER_SEARCH_ROWS, Missing, Reason, bind};
use sheetport_mapping::map::Resolved;
use sheetport_mapping::map::fill_down::Filler;
use sheetport_mapping::model::{Duplicates, Place, SheetSelect};
use sheetport_mapping::{Layout, Template};
use sheetport_sheet::{self as sheet, Appearance, Book, Cell, Doubt, ReportWords, Row, Rows, column_letters, write};
use sheetport_values::date::local_zone;

use super::checks::file_warnings::{
    GROUP, RECORD, doubtful_letters, foreign_sheet, guesses, hidden_sheet, misspelt_columns, money_as_quantity,
    nameless, other_template, rival_columns, unread_sheets, unused_columns,
};
use super::checks::titles::contradicted_title;
use super::columns::merge_columns;
use super::gone::GoneRecord;
use super::table::Table;
use crate::compare::{KnownTexts, OrderAddresses};
use crate::edits::Edits;
use crate::error::Error;
use crate::retry::{Answers, Report, ReportHistory};

/// Returns the codes of those warnings about a file that are questions without an answer.
pub fn unanswered(warnings: &[Problem], accepts: &[Code]) -> impl Iterator<Item = Code> {
    let codes = warnings.iter().map(|warning| warning.code);
    codes.filter(|code| code.asks() == Some(Asks::File) && !accepts.contains(code))
}

/// Selects all sheets with the template's columns, in `--sheet` and in templates.
pub const ALL_SHEETS: &str = "*";

/// A file bound to a template. Can be read repeatedly.
#[derive(Debug)]
pub struct Source {
    /// The path shown in messages.
    pub path: PathBuf,
    pub book: Book,
    /// The sheets to read, in order. Never empty.
    pub tables: Vec<Table>,
    /// The names of the common columns. Cells and problems in the ledger refer to these.
    pub header: Vec<String>,
    /// Sheets without the template's columns, with the missing columns.
    pub left_out: Vec<(String, Missing)>,
    /// Warnings about the file as a whole, known before the first row is read.
    pub warnings: Vec<Problem>,
    /// The first and last row to send; `None` for all rows.
    pub chosen: Option<(u64, u64)>,
    /// The numbers of records to send again. None means that no number was given.
    pub repeated: Vec<String>,
    /// Rejects records with a warning.
    pub is_strict: bool,
    /// Questions that are answered with yes: their rows are sent, with a warning.
    pub accepts: Vec<Code>,
    /// Whether rows that repeat earlier rows in the same order are sent.
    pub allows_copies: bool,
    /// The history of the rows, if the file is a report and only unaccepted rows are sent.
    pub history: Option<ReportHistory>,
    /// The service's identifiers of the rows, if the file is an export.
    pub known_texts: Option<KnownTexts>,
    /// Edits made in a review.
    pub edits: Option<Arc<Edits>>,
    /// What the references of the rows to other records stand for, if looked up.
    pub references: Option<Resolved>,
    /// The orders that the rows mean, if looked up.
    pub orders: Option<OrderAddresses>,
    /// Records of the service that the file lacks, planned after its own.
    pub gone: Vec<GoneRecord>,
    /// The path of the file to read.
    at: PathBuf,
    stamp: Stamp,
}

/// Attributes changed by writing the file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<std::time::SystemTime>,
}

impl Source {
    /// Opens `path` and finds the sheets and headers for `template`. `sheet` overrides the sheet in the template: a
    /// name, a number from 1, or [`ALL_SHEETS`].
    pub fn open(
        path: &Path,
        template: &Template,
        sheet: Option<&str>,
        options: &sheet::Options,
    ) -> Result<Source, Error> {
        Source::open_as(path, path, template, sheet, options)
    }

    /// Opens the file `at` like [`Source::open`]. Messages show `path`.
    pub fn open_as(
        at: &Path,
        path: &Path,
        template: &Template,
        sheet: Option<&str>,
        options: &sheet::Options,
    ) -> Result<Source, Error> {
        let stamp = Stamp::of_file(at, path)?;
        let book = sheet::open(at, options).map_err(|error| error.of_file(path))?;
        let (bound, left_out) = select_sheets(path, &book, template, sheet)?;
        let mut source = Source::bound(template, at, path, book, stamp, bound, left_out);
        if sheet.is_none() {
            source.warnings.extend(unread_sheets(&source.book, template, &source.tables));
        }
        Ok(source)
    }

    /// Opens the report `at`, reading all sheets with our columns. The status column of the report is ignored. Messages
    /// show `path`.
    pub fn open_report(at: &Path, path: &Path, report: &Report, template: &Template) -> Result<Source, Error> {
        let stamp = Stamp::of_file(at, path)?;
        let mut bound = Vec::new();
        for sheet in &report.sheets {
            let first_rows = report.book.first_rows(*sheet, HEADER_SEARCH_ROWS).map_err(|error| error.of_file(path))?;
            let layout = bind(template, &first_rows).map_err(|missing| lacks_columns(path, template, missing))?;
            bound.push((*sheet, Layout { status: None, ..layout }));
        }
        Ok(Source::bound(template, at, path, report.book.clone(), stamp, bound, Vec::new()))
    }

    fn bound(
        template: &Template,
        at: &Path,
        path: &Path,
        book: Book,
        stamp: Stamp,
        bound: Vec<(usize, Layout)>,
        left_out: Vec<(String, Missing)>,
    ) -> Source {
        let (header, columns) = merge_columns(bound.iter().map(|(_, layout)| layout));
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let today = jiff::Zoned::now().with_time_zone(local_zone()).date();
        let tables = bound.into_iter().zip(columns).map(|((sheet, mut layout), columns)| {
            layout.facts.file.clone_from(&file);
            layout.facts.sheet = book.sheets().get(sheet).cloned().filter(|_| book.has_named_sheets());
            layout.facts.today = Some(today);
            layout.facts.delimiter = book.dialect().map(|dialect| dialect.grammar.delimiter);
            Table { sheet, cells: layout.of_each_cell(), layout, columns }
        });
        let tables: Vec<Table> = tables.collect();
        let mut warnings: Vec<Problem> = tables
            .iter()
            .flat_map(|table| unused_columns(template, table).chain(rival_columns(template, table)))
            .collect();
        warnings.extend(
            tables
                .iter()
                .filter_map(|table| foreign_sheet(template, table).or_else(|| other_template(&book, template, table))),
        );
        warnings.extend(tables.iter().flat_map(|table| money_as_quantity(&book, template, table)));
        warnings.extend(tables.iter().flat_map(|table| misspelt_columns(template, table)));
        // A sheet about something else has descriptions of that.
        if !warnings.iter().any(|warning| warning.code == Code::ForeignSheet) {
            warnings.extend(tables.iter().filter_map(|table| nameless(template, table)));
        }
        warnings.extend(tables.iter().filter_map(|table| contradicted_title(&book, template, table)));
        warnings.extend(tables.iter().filter_map(|table| hidden_sheet(&book, table)));
        warnings.extend(tables.first().into_iter().flat_map(|table| guesses(template, table)));
        warnings.extend(book.dialect().and_then(doubtful_letters));
        let (path, at) = (path.to_owned(), at.to_owned());
        Source {
            path,
            book,
            tables,
            header,
            left_out,
            warnings,
            chosen: None,
            repeated: Vec::new(),
            is_strict: false,
            accepts: template.accepts.clone(),
            allows_copies: false,
            history: None,
            known_texts: None,
            edits: None,
            references: None,
            orders: None,
            gone: Vec::new(),
            at,
            stamp,
        }
    }

    /// Returns the guesses that a person must confirm before records are sent: the kind of record, the field that identifies it, or
    /// what it is about.
    pub fn identifying_guesses<'a>(&'a self, template: &'a Template) -> impl Iterator<Item = &'a Problem> {
        let input = template.input();
        let is_path_id = |name: &str| template.rules().any(|rule| rule.place == Place::Id && rule.field.name == name);
        let identifies = move |name: &str| {
            name == GROUP
                || name == RECORD
                || is_path_id(name)
                || [input.key, input.needs_one_of, input.quantities].iter().any(|names| names.contains(&name))
        };
        self.warnings.iter().filter(move |warning| warning.code == Code::Guess && identifies(&warning.field))
    }

    /// Answers questions with yes.
    pub fn accept(&mut self, codes: &[Code]) {
        for code in codes {
            if !self.accepts.contains(code) {
                self.accepts.push(*code);
            }
        }
    }

    /// Returns what a person has said about rows of this report that were rejected before.
    pub(crate) fn answers(&self, template: &Template, has_other_template: bool, was_strict: bool) -> Answers<'_> {
        let allows_copies = self.allows_copies || template.duplicates == Duplicates::Send;
        Answers { has_other_template, was_strict, accepts: &self.accepts, allows_copies }
    }

    /// Returns the questions about the file that are not answered yet.
    pub fn questions(&self) -> Vec<Code> {
        unanswered(&self.warnings, &self.accepts).collect()
    }

    /// Removes the warnings about guesses of inference, after their confirmation.
    pub fn confirm_guesses(&mut self) {
        self.warnings.retain(|warning| warning.code != Code::Guess);
    }

    /// Whether a sheet has our columns.
    pub fn is_report(&self) -> bool {
        self.tables.iter().any(|table| table.layout.is_report)
    }

    /// Ignores the status of the rows in a report.
    pub fn ignore_status(&mut self) {
        self.tables.iter_mut().for_each(|table| table.layout.status = None);
    }

    /// Returns how the file is written, or `None` for a workbook.
    pub fn text_form(&self) -> Option<TextForm> {
        let dialect = self.book.dialect()?;
        Some(TextForm { delimiter: dialect.grammar.delimiter, has_bom: dialect.encoding.needs_mark() })
    }

    /// Returns the SHA-256 of the file, in hexadecimal. Reads the whole file.
    pub fn hash(&self) -> Result<String, Error> {
        let failed = |source| sheet::Error::Open { path: self.path.clone(), source };
        Ok(digest::of_file(&self.at).map_err(failed)?)
    }

    /// Returns the name of the sheet of `table`.
    pub fn name_of(&self, table: &Table) -> &str {
        &self.book.sheets()[table.sheet]
    }

    /// Returns the name of the column of a cell that is a separate record.
    pub(crate) fn name_of_cell(&self, table: usize, cell: Option<usize>) -> Option<&str> {
        let table = self.tables.get(table)?;
        let column = table.columns.of(table.layout.cells.get(cell?)?.column);
        self.header.get(column).map(|name| name.trim())
    }

    /// Returns the name of the sheet in the ledger and in reports: empty if a single sheet is read.
    pub fn sheet_of(&self, table: &Table) -> String {
        if self.tables.len() > 1 { self.name_of(table).to_owned() } else { String::new() }
    }

    /// Reads the rows below the headers, sheet after sheet.
    pub fn rows(&self) -> DataRows<'_> {
        DataRows { source: self, table: 0, rows: None, doubt: None, last: 0, ended: None }
    }

    /// Fails if the file was written since opening.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match std::fs::metadata(&self.at).map(|metadata| Stamp::of(&metadata)) {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            _ => Err(Error::Changed { path: self.path.clone() }),
        }
    }
}

/// Iterates over the non-blank rows below the headers, with cells filled down as configured in the template, and neutralised
/// formulas restored in reports and exports.
pub struct DataRows<'a> {
    source: &'a Source,
    /// The index of the current sheet in [`Source::tables`].
    table: usize,
    /// The rows of the current sheet, once opened.
    rows: Option<(Rows, Filler)>,
    /// Why the cells of the last row may be wrong, if so.
    pub doubt: Option<Doubt>,
    /// The number of the last row.
    last: u64,
    /// The last sheet that was read to its end and had rows.
    pub(super) ended: Option<EndedSheet>,
}

/// A sheet that was read to its end.
pub(super) struct EndedSheet {
    /// The index in [`Source::tables`].
    pub table: usize,
    /// The number of its last row.
    pub last: u64,
    pub appearance: Appearance,
}

impl DataRows<'_> {
    /// Reads the next row into `row` and returns the index of the sheet in [`Source::tables`], or `None` after the last
    /// row.
    pub fn next(&mut self, row: &mut Row) -> Result<Option<usize>, Error> {
        let of_file = |error: sheet::Error| Error::from(error.of_file(&self.source.path));
        while let Some(table) = self.source.tables.get(self.table) {
            let (rows, filler) = match &mut self.rows {
                Some(rows) => rows,
                none => none.insert((self.source.book.rows(table.sheet).map_err(of_file)?, Filler::new(&table.layout))),
            };
            while rows.next(row).map_err(of_file)? {
                self.doubt = rows.doubt();
                if let Some(edits) = &self.source.edits {
                    edits.apply(table.sheet, row);
                }
                if row.number > table.layout.header.row && !is_nothing(row) {
                    match &self.source.history {
                        // The cells of a report are already filled down.
                        Some(history) if !history.is_new(self.table, row) => filler.pass(row),
                        _ => filler.row(row),
                    }
                    if table.layout.is_defused {
                        row.replace_texts(write::restore);
                    }
                    if let Some(column) = filler.overflow() {
                        return Err(Error::FilledTooMuch { row: row.number, letters: column_letters(column) });
                    }
                    self.last = row.number;
                    return Ok(Some(self.table));
                }
            }
            if self.last > 0 {
                let appearance = rows.appearance().clone();
                self.ended = Some(EndedSheet { table: self.table, last: self.last, appearance });
            }
            self.table += 1;
            (self.rows, self.last) = (None, 0);
        }
        Ok(None)
    }
}

/// Returns whether a row has only blank cells and control characters, such as the Ctrl-Z or the zero bytes at the end of a
/// file.
fn is_nothing(row: &Row) -> bool {
    row.cells().all(|cell| match cell {
        Cell::Text(text) => text.chars().all(|c| c.is_whitespace() || c.is_control()),
        cell => cell.is_blank(),
    })
}

impl Stamp {
    fn of_file(at: &Path, path: &Path) -> Result<Stamp, Error> {
        let failed = |source| sheet::Error::Open { path: path.to_owned(), source };
        Ok(Stamp::of(&std::fs::metadata(at).map_err(failed)?))
    }

    fn of(metadata: &Metadata) -> Stamp {
        Stamp { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

type Bound = (Vec<(usize, Layout)>, Vec<(String, Missing)>);

/// Returns the sheets to read, bound to the template, and the sheets with missing columns.
fn select_sheets(path: &Path, book: &Book, template: &Template, wanted: Option<&str>) -> Result<Bound, Error> {
    let of_file = |error: sheet::Error| Error::from(error.of_file(path));
    // The template names a sheet of the original file, not of a report.
    let report_sheets = if wanted.is_none() { report_sheets(book, template) } else { Vec::new() };
    if !report_sheets.is_empty() {
        return Ok((report_sheets, Vec::new()));
    }
    let all = || (0..book.sheets().len()).collect();
    let (candidates, several): (Vec<usize>, bool) = match (wanted, &template.sheet.select) {
        (Some(ALL_SHEETS), _) | (None, SheetSelect::All) => (all(), true),
        (Some(wanted), _) => (vec![book.find_sheet(wanted).map_err(of_file)?], false),
        // The only sheet of a CSV has no name, and a name in the template does not apply.
        (None, SheetSelect::Name(name)) if book.has_named_sheets() => {
            (vec![book.find_named_sheet(name).map_err(of_file)?], false)
        }
        (None, SheetSelect::Index(index)) if *index > book.sheets().len() => {
            return Err(Error::NoSuchIndex { path: path.to_owned(), index: *index, count: book.sheets().len() });
        }
        (None, SheetSelect::Index(index)) => (vec![index - 1], false),
        (None, SheetSelect::FirstThatFits | SheetSelect::Name(_)) => (all(), false),
    };
    let (mut bound, mut left_out, mut without_rows) = (Vec::new(), Vec::new(), None);
    // Visible sheets go first.
    let mut candidates = candidates;
    if !several {
        candidates.sort_by_key(|sheet| book.is_hidden(*sheet));
    }
    for sheet in candidates {
        let rows = book.first_rows(sheet, HEADER_SEARCH_ROWS).map_err(of_file)?;
        match bind(template, &rows) {
            // Another sheet with the columns may have rows.
            Ok(layout) if !several && !rows.iter().any(|row| row.number > layout.header.row && !row.is_blank()) => {
                without_rows = without_rows.or(Some((sheet, layout)));
            }
            Ok(layout) => bound.push((sheet, layout)),
            Err(missing) => left_out.push((book.sheets()[sheet].clone(), missing)),
        }
        if !bound.is_empty() && !several {
            break;
        }
    }
    bound.extend(without_rows.filter(|_| bound.is_empty()));
    if !bound.is_empty() {
        return Ok((bound, if several { left_out } else { Vec::new() }));
    }
    // The first sheet with the maximum number of columns.
    let nearest = left_out.into_iter().map(|(_, missing)| missing).rev().max_by_key(|missing| missing.found);
    let missing = nearest.unwrap_or(Missing { header: None, found: 0, columns: Vec::new() });
    Err(lacks_columns(path, template, missing))
}

fn lacks_columns(path: &Path, template: &Template, mut missing: Missing) -> Error {
    if let Some(several) = missing.columns.pop_if(|column| matches!(column.reason, Reason::Several { .. })) {
        return Error::SeveralColumns {
            path: path.to_owned(),
            template: template.name.clone(),
            several: Box::new(several),
        };
    }
    Error::Columns { path: path.to_owned(), template: template.name.clone(), missing: Box::new(missing) }
}

/// Returns the sheets with rows, if the book is a report with a summary sheet. A large report has several.
fn report_sheets(book: &Book, template: &Template) -> Vec<(usize, Layout)> {
    let has_summary = book.sheets().first().is_some_and(|first| ReportWords::is_summary_sheet(first));
    if !has_summary || book.sheets().len() < 2 {
        return Vec::new();
    }
    // Errors in other sheets are reported when these are read.
    let bound = |sheet| Some((sheet, bind(template, &book.first_rows(sheet, HEADER_SEARCH_ROWS).ok()?).ok()?));
    (0..book.sheets().len()).filter_map(bound).filter(|(_, layout)| layout.is_report).collect()
}
