//! Tables as CSV or XLSX, and of values as they came also as TSV and NDJSON. A file appears under its name whole or not
//! at all: it is written beside, synced and renamed.

mod csv;
mod defuse;
mod look;
mod sink;
mod values;
mod whole;
mod xlsx;

use std::path::{Path, PathBuf};

pub use self::defuse::{defuse, restore};
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

/// A table on its way into a file. Dropped without [`Table::finish`], it leaves nothing behind.
pub struct Table {
    kind: Kind,
}

enum Kind {
    Csv(Box<CsvTable>),
    Xlsx(Box<XlsxTable>),
}

impl Table {
    /// Begins a file at `path`, whose header is `header`; `sheet` names the sheet in a workbook.
    ///
    /// # Errors
    /// Those of [`WholeFile::create`], and [`Error::Unwritable`] for a header wider than a workbook.
    pub fn create(
        path: &Path,
        format: Format,
        existing: Existing,
        sheet: &str,
        header: &[&str],
    ) -> Result<Table, Error> {
        let file = WholeFile::create(path, existing)?;
        let kind = match format {
            Format::Csv => Kind::Csv(Box::new(CsvTable::create(file, header)?)),
            Format::Xlsx => Kind::Xlsx(Box::new(XlsxTable::create(file, sheet, header)?)),
        };
        Ok(Table { kind })
    }

    /// Adds a row, with `marks` on cells at fault. A row shorter than the header is filled up with blanks.
    pub fn row(&mut self, cells: &[Cell<'_>], marks: &[Mark<'_>]) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Csv(table) => table.row(cells),
            Kind::Xlsx(table) => table.row(cells, marks),
        }
    }

    /// Puts the file in place under its name, and gives that.
    pub fn finish(self) -> Result<PathBuf, Error> {
        match self.kind {
            Kind::Csv(table) => table.finish(),
            Kind::Xlsx(table) => table.finish(),
        }
    }
}
