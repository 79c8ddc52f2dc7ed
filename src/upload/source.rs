//! The file of an upload: what it is, which sheet of it is meant, and where the template's columns are.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::Error;
use crate::sheet::{self, Book, Row, Rows};
use crate::template::bind::{HEADER_WITHIN, Missing, bind};
use crate::template::fill::Filler;
use crate::template::model::SheetSelect;
use crate::template::{Layout, Template};

/// A file bound to a template, ready to be read as often as needed.
#[derive(Debug)]
pub struct Source {
    pub path: PathBuf,
    pub book: Book,
    /// The sheet's place in [`Book::sheets`].
    pub sheet: usize,
    pub layout: Layout,
    /// SHA-256 of the file, in hexadecimal.
    pub hash: String,
    stamp: Stamp,
}

/// What changes when another program writes the file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<std::time::SystemTime>,
}

impl Source {
    /// Opens `path` and finds the sheet and the header that `template` is for. `sheet` overrules the template's choice.
    pub fn open(
        path: &Path,
        template: &Template,
        sheet: Option<&str>,
        options: &sheet::Options,
    ) -> Result<Source, Error> {
        let book = sheet::open(path, options)?;
        let (hash, stamp) = hash(path)?;
        let (sheet, layout) = choose(path, &book, template, sheet)?;
        Ok(Source { path: path.to_owned(), book, sheet, layout, hash, stamp })
    }

    pub fn sheet_name(&self) -> &str {
        self.book.sheets().get(self.sheet).map_or("", String::as_str)
    }

    /// The rows below the header.
    pub fn rows(&self) -> Result<DataRows, Error> {
        Ok(DataRows {
            rows: self.book.rows(self.sheet)?,
            header_row: self.layout.header.row,
            filler: Filler::new(&self.layout),
            mended: 0,
            is_mended: false,
        })
    }

    pub(super) fn reader_died(&self) -> Error {
        Error::ReaderDied { path: self.path.clone() }
    }

    /// Refuses a file that another program wrote to since it was opened.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let metadata = std::fs::metadata(&self.path);
        match metadata.map(|metadata| Stamp::of(&metadata)) {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            _ => Err(Error::Changed { path: self.path.clone() }),
        }
    }
}

/// Rows that hold data: below the header and not blank, with what the template fills from above.
pub struct DataRows {
    rows: Rows,
    header_row: u64,
    filler: Filler,
    mended: u64,
    /// The last row had a quote that stands where none can, so that how it was read is a guess.
    pub is_mended: bool,
}

impl DataRows {
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        while self.rows.next(row)? {
            let mended = self.rows.mended();
            self.is_mended = mended > std::mem::replace(&mut self.mended, mended);
            if row.number > self.header_row && !row.is_blank() {
                self.filler.row(row);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

fn choose(path: &Path, book: &Book, template: &Template, wanted: Option<&str>) -> Result<(usize, Layout), Error> {
    let named = |name: &str| {
        let place = book.sheets().iter().position(|sheet| sheet == name);
        let missing = || sheet::Error::NoSuchSheet {
            path: path.to_owned(),
            name: name.to_owned(),
            available: book.sheets().to_vec(),
        };
        place.ok_or_else(|| Error::from(missing()))
    };
    let candidates = match (wanted, &template.sheet.select) {
        (Some(name), _) => vec![named(name)?],
        // A CSV has one sheet whose name nobody chose, so a sheet's name in the template does not speak of it.
        (None, SheetSelect::Name(name)) if book.has_named_sheets() => vec![named(name)?],
        (None, SheetSelect::Index(index)) if *index > book.sheets().len() => {
            return Err(Error::NoSuchIndex { path: path.to_owned(), index: *index, count: book.sheets().len() });
        }
        (None, SheetSelect::Index(index)) => vec![index - 1],
        (None, SheetSelect::FirstThatFits | SheetSelect::Name(_)) => (0..book.sheets().len()).collect(),
    };
    let mut nearest: Option<Missing> = None;
    for sheet in candidates {
        match bind(template, &top(book, sheet)?) {
            Ok(layout) => return Ok((sheet, layout)),
            Err(missing) if nearest.as_ref().is_none_or(|nearest| missing.found > nearest.found) => {
                nearest = Some(missing)
            }
            Err(_) => {}
        }
    }
    let missing = nearest.unwrap_or(Missing { header: None, found: 0, columns: Vec::new() });
    Err(Error::Columns { path: path.to_owned(), template: template.name.clone(), missing: Box::new(missing) })
}

fn top(book: &Book, sheet: usize) -> Result<Vec<Row>, Error> {
    let mut rows = book.rows(sheet)?;
    let mut top = Vec::new();
    let mut row = Row::default();
    while top.len() < HEADER_WITHIN && rows.next(&mut row)? {
        top.push(row.clone());
    }
    Ok(top)
}

fn hash(path: &Path) -> Result<(String, Stamp), Error> {
    let failed = |source| sheet::Error::Open { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let stamp = Stamp::of(&file.metadata().map_err(failed)?);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            len => hasher.update(&buffer[..len]),
        }
    }
    Ok((hex(&hasher.finalize()), stamp))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
