//! Tables as CSV or XLSX, and of values as they came also as TSV and NDJSON. A file appears under its name whole or not
//! at all: it is written beside, synced and renamed.

mod choices;
mod csv;
mod defuse;
mod delimited;
mod front;
mod look;
mod sink;
mod values;
mod whole;
mod xlsx;

use std::path::{Path, PathBuf};

pub use self::choices::{Choices, MAX_CHOICES};
pub use self::defuse::{defuse, restore};
pub use self::delimited::Delimiting;
pub use self::front::{Count, Front, ProblemLine, Spot};
pub use self::look::{MAX_TEXT, cut_text, is_cut};
pub use self::sink::Packing;
pub use self::values::{Shape, Style, TextKind, Value, ValueTable};
pub use self::whole::{WholeFile, Written, folder, sweep};

use self::csv::CsvTable;
use self::xlsx::XlsxTable;
use super::{Cell, Error};

/// What a table is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    Xlsx,
}

impl Format {
    /// By the extension of `path`, in any case; nothing for an extension that is not known.
    pub fn of(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?;
        if extension.eq_ignore_ascii_case("csv") {
            Some(Format::Csv)
        } else if extension.eq_ignore_ascii_case("xlsx") {
            Some(Format::Xlsx)
        } else {
            None
        }
    }
}

/// May a file that is there already be replaced?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Replace,
    Keep,
}

/// Something to show at a cell: in XLSX the cell is coloured and carries the note; CSV has no place for it.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    /// From 0. The cell may be blank, or past the row's last.
    pub column: usize,
    pub note: &'a str,
}

/// What a table is called, what it has above its rows, and what helps people with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outline<'a> {
    /// In a workbook the name of the sheet.
    pub sheet: &'a str,
    pub header: &'a [&'a str],
    /// As many of the header's columns, the first ones, are the person's own; a workbook shows the others differently.
    pub own: usize,
    /// In a workbook the column whose words are coloured by what they say.
    pub status: Option<usize>,
    /// In a workbook the column whose texts are sentences, which take several lines.
    pub sentences: Option<usize>,
    /// In a workbook what the cells of a column can be chosen from.
    pub choices: &'a [Choices],
    /// In a workbook a sheet is kept free before the rows, for [`Table::finish`].
    pub has_front: bool,
    /// A CSV begins with a byte order mark, by which Excel knows that it is UTF-8.
    pub has_bom: bool,
}

/// What a workbook has less than the rows that it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Cells whose text was longer than a workbook's can be, and was cut with a mark.
    pub cut: u64,
    /// Notes past those that a workbook is still quick with.
    pub notes: u64,
}

/// A table on its way into a file. Dropped without [`Table::finish`], it leaves nothing behind.
pub struct Table {
    kind: Kind,
}

enum Kind {
    Csv(Box<CsvTable>),
    Xlsx(Box<XlsxTable>),
}

impl Table {
    /// Begins a file at `path`.
    ///
    /// # Errors
    /// Those of [`WholeFile::create`], and [`Error::Unwritable`] for a header wider than a workbook.
    pub fn create(path: &Path, format: Format, existing: Existing, outline: &Outline<'_>) -> Result<Table, Error> {
        let file = WholeFile::create(path, existing)?;
        let kind = match format {
            Format::Csv => Kind::Csv(Box::new(CsvTable::create(file, outline)?)),
            Format::Xlsx => Kind::Xlsx(Box::new(XlsxTable::outlined(file, outline)?)),
        };
        Ok(Table { kind })
    }

    /// Adds a row, with `marks` on cells at fault. A row shorter than the header is filled up with blanks.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>, marks: &[Mark<'_>]) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Csv(table) => table.row(cells),
            Kind::Xlsx(table) => table.row(&cells.into_iter().collect::<Vec<_>>(), marks),
        }
    }

    /// What could not be kept of the rows so far.
    pub fn left_out(&self) -> LeftOut {
        match &self.kind {
            Kind::Csv(_) => LeftOut::default(),
            Kind::Xlsx(table) => table.left_out(),
        }
    }

    /// Puts the file in place under its name, and gives that. A workbook that kept a sheet free gets `front` on it.
    pub fn finish(self, front: Option<&Front>) -> Result<PathBuf, Error> {
        match self.kind {
            Kind::Csv(table) => table.finish(),
            Kind::Xlsx(table) => table.finish(front),
        }
    }
}
