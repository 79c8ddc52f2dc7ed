//! The file of an upload: what it is, which sheets of it are meant, and where the template's columns are.
//!
//! An upload mostly reads one sheet. Of several, one after the other, each has its own header; what is kept of their
//! rows is laid out in common columns (`arrange`), so that a report of them is one table.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::arrange::{Places, arrange};
use super::error::Error;
use super::retry::{PastRun, Report};
use crate::sheet::{self, Book, Row, Rows, SUMMARY_SHEETS, column_letters};
use crate::template::bind::{HEADER_WITHIN, Missing, bind};
use crate::template::map::fill_down::Filler;
use crate::template::model::SheetSelect;
use crate::template::{Layout, Template};

/// What `--sheet` and a template's name of a sheet say for all sheets that have the columns.
pub const ALL_SHEETS: &str = "*";

/// A file bound to a template, ready to be read as often as needed.
#[derive(Debug)]
pub struct Source {
    /// As messages call it.
    pub path: PathBuf,
    pub book: Book,
    /// The sheets that are read, in this order; at least one.
    pub parts: Vec<Part>,
    /// The columns' names, of all parts together. Cells and problems in the ledger are laid out by them.
    pub header: Vec<String>,
    /// Sheets that were left out because they don't have the columns, with the columns missed.
    pub left_out: Vec<(String, Missing)>,
    /// Records that begin on other rows are left out; nothing when all are meant.
    pub chosen: Option<(u64, u64)>,
    /// What is known of its rows, for a report of which only what was not accepted is sent.
    pub past_run: Option<PastRun>,
    /// The file on disk.
    at: PathBuf,
    stamp: Stamp,
}

/// A sheet that is read.
#[derive(Debug)]
pub struct Part {
    /// Its place in [`Book::sheets`].
    pub sheet: usize,
    pub layout: Layout,
    /// Where its columns are in [`Source::header`].
    pub places: Places,
}

/// What changes when another program writes the file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<std::time::SystemTime>,
}

impl Source {
    /// Opens `path` and finds the sheets and headers that `template` is for. `sheet` overrules the template's choice: a
    /// name, a number from 1, or [`ALL_SHEETS`].
    pub fn open(
        path: &Path,
        template: &Template,
        sheet: Option<&str>,
        options: &sheet::Options,
    ) -> Result<Source, Error> {
        Source::open_as(path, path, template, sheet, options)
    }

    /// Opens the file at `at`, which messages call `path`.
    pub fn open_as(
        at: &Path,
        path: &Path,
        template: &Template,
        sheet: Option<&str>,
        options: &sheet::Options,
    ) -> Result<Source, Error> {
        let failed = |source| sheet::Error::Open { path: path.to_owned(), source };
        let stamp = Stamp::of(&std::fs::metadata(at).map_err(failed)?);
        let book = sheet::open(at, options).map_err(|error| error.of_file(path))?;
        let (bound, left_out) = choose(path, &book, template, sheet)?;
        Ok(Source::bound(at, path, book, stamp, bound, left_out))
    }

    /// Opens the file at `at`, which messages call `path`: one of our reports, of which all sheets that have our columns
    /// are read. What they say of their rows' status counts for nothing.
    pub fn open_report(at: &Path, path: &Path, report: &Report, template: &Template) -> Result<Source, Error> {
        let failed = |source| sheet::Error::Open { path: path.to_owned(), source };
        let told = |error: sheet::Error| Error::from(error.of_file(path));
        let stamp = Stamp::of(&std::fs::metadata(at).map_err(failed)?);
        let mut bound = Vec::new();
        for sheet in &report.sheets {
            let layout = bind(template, &top(&report.book, *sheet).map_err(told)?);
            let layout = layout.map_err(|missing| lacks(path, template, missing))?;
            bound.push((*sheet, Layout { status: None, ..layout }));
        }
        Ok(Source::bound(at, path, report.book.clone(), stamp, bound, Vec::new()))
    }

    fn bound(
        at: &Path,
        path: &Path,
        book: Book,
        stamp: Stamp,
        bound: Vec<(usize, Layout)>,
        left_out: Vec<(String, Missing)>,
    ) -> Source {
        let (header, places) = arrange(bound.iter().map(|(_, layout)| layout));
        let parts = bound.into_iter().zip(places).map(|((sheet, layout), places)| Part { sheet, layout, places });
        let (parts, past_run) = (parts.collect(), None);
        let (path, at) = (path.to_owned(), at.to_owned());
        Source { path, book, parts, header, left_out, chosen: None, past_run, at, stamp }
    }

    /// SHA-256 of the file, in hexadecimal. It takes a reading of the whole file.
    pub fn hash(&self) -> Result<String, Error> {
        let failed = |source| sheet::Error::Open { path: self.path.clone(), source };
        let mut file = File::open(&self.at).map_err(failed)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).map_err(failed)? {
                0 => break,
                len => hasher.update(&buffer[..len]),
            }
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub fn name_of(&self, part: &Part) -> &str {
        self.book.sheets().get(part.sheet).map_or("", String::as_str)
    }

    /// What the ledger and its reports call the sheet of a row: nothing where there is only one.
    pub fn sheet_of(&self, part: &Part) -> String {
        if self.parts.len() > 1 { self.name_of(part).to_owned() } else { String::new() }
    }

    /// The rows below the headers, sheet after sheet.
    pub fn rows(&self) -> DataRows<'_> {
        DataRows { source: self, part: 0, rows: None, mended: 0, is_mended: false }
    }

    pub(super) fn reader_died(&self) -> Error {
        Error::ReaderDied { path: self.path.clone() }
    }

    /// Refuses a file that another program wrote to since it was opened.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let metadata = std::fs::metadata(&self.at);
        match metadata.map(|metadata| Stamp::of(&metadata)) {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            _ => Err(Error::Changed { path: self.path.clone() }),
        }
    }
}

/// Rows that hold data: below their sheet's header and not blank, with what the template fills in from above.
pub struct DataRows<'a> {
    source: &'a Source,
    /// The place in [`Source::parts`] of the sheet that is being read.
    part: usize,
    /// Its rows, once it is open, and what was above the next one.
    rows: Option<(Rows, Filler)>,
    mended: u64,
    /// The last row had a quote that stands where none can, so that how it was read is a guess.
    pub is_mended: bool,
}

impl DataRows<'_> {
    /// Reads the next row into `row`, and answers the place in [`Source::parts`] of its sheet; nothing after the last.
    pub fn next(&mut self, row: &mut Row) -> Result<Option<usize>, Error> {
        let told = |error: sheet::Error| Error::from(error.of_file(&self.source.path));
        while let Some(part) = self.source.parts.get(self.part) {
            let (rows, filler) = match &mut self.rows {
                Some(rows) => rows,
                none => none.insert((self.source.book.rows(part.sheet).map_err(told)?, Filler::new(&part.layout))),
            };
            while rows.next(row).map_err(told)? {
                let mended = rows.mended();
                self.is_mended = mended > std::mem::replace(&mut self.mended, mended);
                if row.number > part.layout.header.row && !row.is_blank() {
                    match &self.source.past_run {
                        Some(run) if !run.is_new(self.part, row) => filler.pass(row),
                        _ => filler.row(row),
                    }
                    if let Some(column) = filler.overflow() {
                        return Err(Error::FilledTooMuch { row: row.number, letters: column_letters(column) });
                    }
                    return Ok(Some(self.part));
                }
            }
            self.part += 1;
            (self.rows, self.mended) = (None, 0);
        }
        Ok(None)
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

type Bound = (Vec<(usize, Layout)>, Vec<(String, Missing)>);

/// The sheets to be read, bound to the template, and the names of those that were tried in vain.
fn choose(path: &Path, book: &Book, template: &Template, wanted: Option<&str>) -> Result<Bound, Error> {
    let told = |error: sheet::Error| Error::from(error.of_file(path));
    // In a report of ours the rows are where they are, whatever sheet of the original the template speaks of.
    let ours = if wanted.is_none() { report_sheets(book, template) } else { Vec::new() };
    if !ours.is_empty() {
        return Ok((ours, Vec::new()));
    }
    let all = || (0..book.sheets().len()).collect();
    let (candidates, several): (Vec<usize>, bool) = match (wanted, &template.sheet.select) {
        (Some(ALL_SHEETS), _) | (None, SheetSelect::All) => (all(), true),
        (Some(wanted), _) => (vec![book.find_sheet(wanted).map_err(told)?], false),
        // A CSV has one sheet whose name nobody chose, so a sheet's name in the template does not speak of it.
        (None, SheetSelect::Name(name)) if book.has_named_sheets() => {
            (vec![book.find_named_sheet(name).map_err(told)?], false)
        }
        (None, SheetSelect::Index(index)) if *index > book.sheets().len() => {
            return Err(Error::NoSuchIndex { path: path.to_owned(), index: *index, count: book.sheets().len() });
        }
        (None, SheetSelect::Index(index)) => (vec![index - 1], false),
        (None, SheetSelect::FirstThatFits | SheetSelect::Name(_)) => (all(), false),
    };
    let (mut bound, mut left_out) = (Vec::new(), Vec::new());
    for sheet in candidates {
        match bind(template, &top(book, sheet).map_err(told)?) {
            Ok(layout) => bound.push((sheet, layout)),
            Err(missing) => left_out.push((book.sheets()[sheet].clone(), missing)),
        }
        if !bound.is_empty() && !several {
            break;
        }
    }
    if !bound.is_empty() {
        return Ok((bound, if several { left_out } else { Vec::new() }));
    }
    // Of several that are equally near, the first.
    let nearest = left_out.into_iter().map(|(_, missing)| missing).rev().max_by_key(|missing| missing.found);
    let missing = nearest.unwrap_or(Missing { header: None, found: 0, columns: Vec::new() });
    Err(lacks(path, template, missing))
}

fn lacks(path: &Path, template: &Template, missing: Missing) -> Error {
    Error::Columns { path: path.to_owned(), template: template.name.clone(), missing: Box::new(missing) }
}

/// Where the book is a report of ours with a first sheet that sums it up: the sheets with its rows, which are several
/// where they are more than one sheet holds.
fn report_sheets(book: &Book, template: &Template) -> Vec<(usize, Layout)> {
    let begins_so = book.sheets().first().is_some_and(|first| SUMMARY_SHEETS.contains(&first.as_str()));
    if !begins_so || book.sheets().len() < 2 {
        return Vec::new();
    }
    // A sheet that can't be read is none of ours; whether it matters is found out by whoever needs it.
    let bound = |sheet| Some((sheet, bind(template, &top(book, sheet).ok()?).ok()?));
    (0..book.sheets().len()).filter_map(bound).filter(|(_, layout)| layout.is_report).collect()
}

/// The rows among which the header is looked for.
pub(super) fn top(book: &Book, sheet: usize) -> Result<Vec<Row>, sheet::Error> {
    /// Bytes of text after which no further row is looked at: each may have megabytes.
    const MOST: usize = 16 << 20;
    let mut rows = book.rows(sheet)?;
    let mut top = Vec::new();
    let mut row = Row::default();
    let mut bytes = 0;
    while top.len() < HEADER_WITHIN && bytes < MOST && rows.next(&mut row)? {
        bytes += row.text_len();
        top.push(row.clone());
    }
    Ok(top)
}
