//! What a file turns out to be, and the rows of its sheets.
//!
//! `kind` says what a file is; `encoding` and `dialect` how a text is to be read; `text` and `workbook` give the rows.
//! Nothing is read into memory whole here. What a workbook's format forces into memory (shared strings, or all of it)
//! is in a process of its own, with a limit.

mod dialect;
mod encoding;
mod grammar;
pub mod header;
mod inflate;
mod kind;
pub mod looks;
mod options;
mod serial;
mod sniff;
mod source;
mod text;
mod workbook;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use self::dialect::Sureness;
pub use self::dialect::{Dialect, Ending, Sure};
use self::inflate::{Input, Packing};
use self::kind::Kind;
pub use self::options::Options;
use self::sniff::Told;
use self::text::TextRows;
use self::workbook::{Workbook, WorkbookRows};
pub use self::workbook::{read_workbooks_with, run_reader_if_asked};
use super::{Error, Row};

/// A file whose format is known. It can be read any number of times.
#[derive(Clone, Debug)]
pub struct Book {
    path: PathBuf,
    sheets: Vec<String>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Text(Dialect),
    Workbook(Workbook),
}

/// The rows of one sheet, in order. Rows that the file leaves out (a workbook's empty rows, a CSV's blank lines) are
/// not given; [`Row::number`] tells.
pub struct Rows {
    source: RowSource,
}

enum RowSource {
    Text(Box<TextRows>),
    Workbook(Box<WorkbookRows>),
}

/// Finds out what `path` is, by its content alone. Reads a bounded part of a text, and a workbook's parts save its
/// sheets.
pub fn open(path: &Path, options: &Options) -> Result<Book, Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let mut file = open_regular(path).map_err(failed)?;
    let mut sample = Vec::new();
    (&mut file).take(kind::SAMPLE as u64).read_to_end(&mut sample).map_err(failed)?;
    let packing = Packing::of(&sample);
    if packing != Packing::None {
        return text(path, packing, options);
    }
    match kind::of(&mut file, &sample).map_err(failed)? {
        Kind::Text => text(path, packing, options),
        Kind::Workbook(format) => {
            let (workbook, sheets) = Workbook::open(path, format)?;
            Ok(Book { path: path.to_owned(), sheets, content: Content::Workbook(workbook) })
        }
        Kind::Encrypted => Err(Error::Encrypted { path: path.to_owned() }),
        Kind::TooOld(program) => {
            let reason = format!("it is a workbook of {program}, and those of before Excel 95 are not read");
            Err(Error::Unreadable { path: path.to_owned(), place: String::new(), reason })
        }
        Kind::Other(found) => Err(Error::NotASpreadsheet { path: path.to_owned(), found: found.to_owned() }),
    }
}

impl Book {
    /// The sheets by name, in the file's order. A CSV has one, named like the file without its extension.
    pub fn sheets(&self) -> &[String] {
        &self.sheets
    }

    /// The place in [`Book::sheets`] of the sheet that is called `wanted`, or else has that number, from 1.
    ///
    /// # Errors
    /// [`Error::NoSuchSheet`], with the names that there are.
    pub fn find_sheet(&self, wanted: &str) -> Result<usize, Error> {
        let number = wanted.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let numbered = number.filter(|place| *place < self.sheets.len());
        self.find_named_sheet(wanted).or_else(|missing| numbered.ok_or(missing))
    }

    /// The place in [`Book::sheets`] of the sheet that is called `name`.
    ///
    /// # Errors
    /// [`Error::NoSuchSheet`], with the names that there are.
    pub fn find_named_sheet(&self, name: &str) -> Result<usize, Error> {
        self.sheets.iter().position(|sheet| sheet == name).ok_or_else(|| Error::NoSuchSheet {
            path: self.path.clone(),
            name: name.to_owned(),
            available: self.sheets.clone(),
        })
    }

    /// False for a CSV, whose one sheet is named after the file.
    pub fn has_named_sheets(&self) -> bool {
        matches!(self.content, Content::Workbook(_))
    }

    /// One line for people on how the file was read: `CSV, windows-1252, delimiter ';'` or `XLSX, 3 sheets`.
    pub fn description(&self) -> String {
        match &self.content {
            Content::Text(dialect) => {
                let delimiter = match dialect.grammar.delimiter {
                    b'\t' => "tab".to_owned(),
                    byte => format!("'{}'", char::from(byte).escape_default()),
                };
                format!("CSV, {}, delimiter {delimiter}", dialect.found.encoding.name())
            }
            Content::Workbook(workbook) => match self.sheets.len() {
                1 => format!("{}, 1 sheet", workbook.format_name()),
                count => format!("{}, {count} sheets", workbook.format_name()),
            },
        }
    }

    /// How a text is read; nothing for a workbook.
    pub fn dialect(&self) -> Option<&Dialect> {
        match &self.content {
            Content::Text(dialect) => Some(dialect),
            Content::Workbook(_) => None,
        }
    }

    /// The rows of the sheet at `index` of [`Book::sheets`], from its first.
    ///
    /// # Errors
    /// [`Error::NoSuchSheet`] when there is no such index; [`Error::Open`] when the file has gone.
    pub fn rows(&self, index: usize) -> Result<Rows, Error> {
        let Some(sheet) = self.sheets.get(index) else {
            let (path, name) = (self.path.clone(), (index + 1).to_string());
            return Err(Error::NoSuchSheet { path, name, available: self.sheets.clone() });
        };
        let source = match &self.content {
            Content::Text(dialect) => RowSource::Text(Box::new(TextRows::open(&self.path, *dialect)?)),
            Content::Workbook(workbook) => RowSource::Workbook(Box::new(workbook.rows(index, sheet)?)),
        };
        Ok(Rows { source })
    }
}

impl Rows {
    /// Reads the next row into `row` and answers true, or false after the last.
    ///
    /// # Errors
    /// [`Error::Unreadable`] with the row; nothing can be read after an error.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        match &mut self.source {
            RowSource::Text(rows) => rows.next(row),
            RowSource::Workbook(rows) => rows.next(row),
        }
    }
}

impl Rows {
    /// How many rows so far had a quote that stands where none can; it was read as text.
    pub fn mended(&self) -> u64 {
        match &self.source {
            RowSource::Text(rows) => rows.mended(),
            RowSource::Workbook(_) => 0,
        }
    }
}

/// A folder or a pipe is refused here: a pipe can't be read twice, and reading one may wait for ever.
fn open_regular(path: &Path) -> io::Result<File> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !found.is_file() {
        return Err(io::Error::other("it is not a file on disk; save it as one first"));
    }
    File::open(path)
}

/// The book that a text file is, once it is known how to read it.
fn text(path: &Path, packing: Packing, options: &Options) -> Result<Book, Error> {
    let dialect = dialect(path, packing, options)?;
    let mut name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if packing != Packing::None {
        // prices.csv.gz
        name = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    Ok(Book { path: path.to_owned(), sheets: vec![name], content: Content::Text(dialect) })
}

fn dialect(path: &Path, packing: Packing, options: &Options) -> Result<Dialect, Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let bad = |reason| Error::BadOptions { path: path.to_owned(), reason };
    let no_spreadsheet = |found: &str| Error::NotASpreadsheet { path: path.to_owned(), found: found.to_owned() };
    let mut input = Input::new(open_regular(path).map_err(failed)?, packing).map_err(failed)?;
    let mut sample = Vec::new();
    input.by_ref().take(kind::SAMPLE as u64).read_to_end(&mut sample).map_err(failed)?;
    let whole = sample.len() < kind::SAMPLE;
    if let Some(found) = kind::packed(&sample).filter(|_| packing != Packing::None) {
        return Err(no_spreadsheet(found));
    }
    let (found, encoding) = match &options.encoding {
        Some(label) => encoding::named(label, &sample)
            .map(|found| (found, Sure::Told))
            .ok_or_else(|| bad(format!("'{label}' is not an encoding; one is utf-8, another windows-1252")))?,
        None if !whole && is_plain_ascii(&sample) => encoding::detect_further_on(&mut input).map_err(failed)?,
        None => encoding::detect(&sample, whole),
    };
    let text = encoding::decode_sample(&sample, found);
    if whole && text.trim().is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    if kind::is_binary(&text) {
        return Err(no_spreadsheet("binary data"));
    }
    options.check().map_err(bad)?;
    let directive = dialect::directive(&text);
    let named = directive.map(|(delimiter, _)| delimiter);
    let told = Told { delimiter: options.delimiter.or(named), quote: options.quote, escape: options.escape };
    let directive = directive.map_or(0, |(_, len)| len);
    let sniffed = sniff::sniff(&text[directive..], whole, told);
    let sure = Sureness { encoding, delimiter: sniffed.delimiter, quote: sniffed.quote, escape: sniffed.escape };
    Ok(Dialect { packing, found, grammar: sniffed.grammar, ending: Ending::of(&text), directive, sure })
}

/// UTF-16 has zero bytes, which are ASCII too.
fn is_plain_ascii(sample: &[u8]) -> bool {
    sample.is_ascii() && !sample.contains(&0)
}
