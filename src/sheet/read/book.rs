//! An open file and the rows of its sheets.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::decompress::Decompressed;
use super::file_kind::{self, FileKind};
use super::options::Options;
use super::text::dialect::{self, DialectConfidence};
use super::text::sniff::{self, DialectHints};
use super::text::{Confidence, Dialect, Doubt, LineEnding, TextRows, encoding};
use super::workbook::{Workbook, WorkbookRows};
use crate::sheet::compression::Compression;
use crate::sheet::{Error, Row};

/// A file with a detected format, readable any number of times.
#[derive(Clone, Debug)]
pub struct Book {
    path: PathBuf,
    sheets: Vec<String>,
    /// The indexes of hidden sheets.
    hidden: Vec<usize>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Text(Dialect),
    Workbook(Workbook),
}

/// The rows of a sheet, in order. Blank lines of a CSV and missing rows of a workbook are skipped; see [`Row::number`].
pub struct Rows {
    source: RowSource,
}

enum RowSource {
    Text(Box<TextRows>),
    Workbook(Box<WorkbookRows>),
}

/// Detects the format of a file by its content. Reads a bounded part of a text, and all of a workbook except its sheets.
///
/// # Errors
/// [`Error::NotASpreadsheet`] and similar errors if the file cannot be read as a table.
pub fn open(path: &Path, options: &Options) -> Result<Book, Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let mut file = open_regular(path).map_err(failed)?;
    let mut sample = Vec::new();
    (&mut file).take(file_kind::SAMPLE as u64).read_to_end(&mut sample).map_err(failed)?;
    let compression = Compression::detect(&sample);
    if compression != Compression::None {
        return text(path, compression, options);
    }
    match file_kind::detect(&mut file, &sample).map_err(failed)? {
        FileKind::Text => text(path, compression, options),
        FileKind::Workbook(format) => {
            let (workbook, entries) = Workbook::open(path, format)?;
            let hidden = entries.iter().enumerate().filter(|(_, entry)| entry.is_hidden).map(|(index, _)| index);
            let hidden = hidden.collect();
            let sheets = entries.into_iter().map(|entry| entry.name).collect();
            Ok(Book { path: path.to_owned(), sheets, hidden, content: Content::Workbook(workbook) })
        }
        FileKind::Encrypted => Err(Error::Encrypted { path: path.to_owned() }),
        FileKind::TooOld(program) => {
            let reason = format!("it is a workbook of {program}; versions before Excel 95 are not supported");
            Err(Error::Unreadable { path: path.to_owned(), place: String::new(), reason })
        }
        FileKind::Other(found) => Err(Error::NotASpreadsheet { path: path.to_owned(), found: found.to_owned() }),
    }
}

impl Book {
    /// Returns the names of the sheets, in order. A CSV has one sheet, named after the file without its extension.
    pub fn sheets(&self) -> &[String] {
        &self.sheets
    }

    /// Returns whether the sheet at `index` is hidden in spreadsheet programs.
    pub fn is_hidden(&self, index: usize) -> bool {
        self.hidden.contains(&index)
    }

    /// Returns the index of the sheet with this name or else with this one-based number.
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
            path: self.path.clone(),
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

    /// Returns false for a CSV: the only sheet is named after the file.
    pub fn has_named_sheets(&self) -> bool {
        matches!(self.content, Content::Workbook(_))
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
                1 => format!("{}, 1 sheet", workbook.format_name()),
                count => format!("{}, {count} sheets", workbook.format_name()),
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
    /// Reads the next row into `row`. Returns false after the last one.
    ///
    /// # Errors
    /// [`Error::Unreadable`] with the row. No rows can be read after an error.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        match &mut self.source {
            RowSource::Text(rows) => rows.next(row),
            RowSource::Workbook(rows) => rows.next(row),
        }
    }

    /// Returns the first and last rows of the ranges of hidden rows in a workbook, once all rows were read.
    pub fn hidden_rows(&self) -> &[(u64, u64)] {
        match &self.source {
            RowSource::Text(_) => &[],
            RowSource::Workbook(rows) => rows.hidden(),
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

/// Opens a regular file. Folders are refused, and pipes, because they cannot be read twice and may block forever.
fn open_regular(path: &Path) -> io::Result<File> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file; save it to disk first"));
    }
    File::open(path)
}

/// Opens a text file.
fn text(path: &Path, compression: Compression, options: &Options) -> Result<Book, Error> {
    let dialect = detect_dialect(path, compression, options)?;
    let mut name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if compression != Compression::None {
        // prices.csv.gz
        name = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    Ok(Book { path: path.to_owned(), sheets: vec![name], hidden: Vec::new(), content: Content::Text(dialect) })
}

fn detect_dialect(path: &Path, compression: Compression, options: &Options) -> Result<Dialect, Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let bad = |reason| Error::BadOptions { path: path.to_owned(), reason };
    let no_spreadsheet = |found: &str| Error::NotASpreadsheet { path: path.to_owned(), found: found.to_owned() };
    let mut input = Decompressed::new(open_regular(path).map_err(failed)?, compression).map_err(failed)?;
    let mut sample = Vec::new();
    input.by_ref().take(file_kind::SAMPLE as u64).read_to_end(&mut sample).map_err(failed)?;
    let whole = sample.len() < file_kind::SAMPLE;
    if let Some(found) = file_kind::non_text_content(&sample).filter(|_| compression != Compression::None) {
        return Err(no_spreadsheet(found));
    }
    let (encoding, confidence) = match &options.encoding {
        Some(label) => encoding::with_label(label, &sample)
            .map(|found| (found, Confidence::Given))
            .ok_or_else(|| bad(format!("'{label}' is not an encoding; examples are utf-8 and windows-1252")))?,
        None if !whole && is_plain_ascii(&sample) => encoding::detect_in_rest(&mut input).map_err(failed)?,
        None => encoding::detect(&sample, whole),
    };
    let text = encoding::decode_sample(&sample, encoding);
    if whole && text.trim().is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    if file_kind::is_binary(&text) {
        return Err(no_spreadsheet("binary data"));
    }
    options.check().map_err(bad)?;
    let directive = dialect::directive(&text);
    let declared = directive.map(|(delimiter, _)| delimiter);
    let hints =
        DialectHints { delimiter: options.delimiter.or(declared), quote: options.quote, escape: options.escape };
    let directive = directive.map_or(0, |(_, len)| len);
    let detected = sniff::sniff(&text[directive..], whole, hints);
    let confidence = DialectConfidence {
        encoding: confidence,
        delimiter: detected.delimiter,
        quote: detected.quote,
        escape: detected.escape,
    };
    let line_ending = LineEnding::of(&text);
    Ok(Dialect { compression, encoding, grammar: detected.grammar, line_ending, directive, confidence })
}

/// Returns true for ASCII without zero bytes, which UTF-16 has.
fn is_plain_ascii(sample: &[u8]) -> bool {
    sample.is_ascii() && !sample.contains(&0)
}
