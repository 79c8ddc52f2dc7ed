//! Workbooks through calamine: which sheets there are, and the cells of one, as far as its formats give them.
//!
//! XLSX and XLSB are streamed. Calamine reads XLS and ODS whole; the process that this runs in has a limit for that.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use calamine::{
    Data, DataRef, ExcelDateTime, Ods, OdsError, Reader, SheetType, Xls, XlsError, Xlsb, XlsbError, Xlsx, XlsxError,
};

use super::archive;
use super::formulas::Formulas;
use super::limits::Activity;
use super::mend::mend;
use super::obfuscation::is_obfuscated;
use super::percentages;
use super::rows_out::{RowsOut, Stop};
use super::serve::Fault;
use super::xlsb::{Beside, BesideCells};
use super::xlsx;
use crate::sheet::Cell;
use crate::sheet::read::kind::Format;
use crate::sheet::read::serial;

pub type Input = BufReader<Source>;

/// Where a workbook's bytes come from. Whoever watches over the reader sees them being taken.
pub enum Source {
    File(File, Arc<Activity>),
    Mended(Cursor<Vec<u8>>, Arc<Activity>),
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file, activity) => {
                activity.fed.store(true, Ordering::Relaxed);
                file.read(bytes)
            }
            Source::Mended(archive, activity) => {
                activity.fed.store(true, Ordering::Relaxed);
                archive.read(bytes)
            }
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File(file, _) => file.seek(to),
            Source::Mended(archive, _) => archive.seek(to),
        }
    }
}

/// An open workbook.
pub struct Parser {
    path: PathBuf,
    sheets: Vec<String>,
    book: Book,
    formulas: Formulas,
}

enum Book {
    Xlsx(Box<Xlsx<Input>>),
    Xlsb(Box<Xlsb<Input>>),
    Xls(Box<Xls<Input>>),
    Ods(Box<Ods<Input>>),
}

impl Parser {
    pub fn open(path: &Path, format: Format, activity: &Arc<Activity>) -> Result<Parser, Fault> {
        let failed = |error: io::Error| Fault::new(error.to_string());
        let in_memory = |bytes| BufReader::new(Source::Mended(Cursor::new(bytes), Arc::clone(activity)));
        let file = File::open(path).map_err(failed)?;
        let mut file = BufReader::new(Source::File(file, Arc::clone(activity)));
        if format == Format::Xls {
            if is_obfuscated(&mut file).map_err(failed)? {
                return Err(fault(true, &XlsError::Password));
            }
            file.rewind().map_err(failed)?;
            return Parser::parse(path, format, file);
        }
        let look = archive::check(&mut file).map_err(Fault::new)?;
        if format == Format::Ods {
            if let Some(marked) = percentages::marked(&mut file) {
                activity.moved.store(true, Ordering::Relaxed);
                file = in_memory(marked);
            }
            file.rewind().map_err(failed)?;
        }
        let fault = match Parser::parse(path, format, file) {
            Ok(parser) if !look.has_utf16 => return Ok(parser),
            Ok(_) => Fault::new("a part of it is in UTF-16"),
            Err(fault) if fault.encrypted => return Err(fault),
            Err(fault) => fault,
        };
        let Some(mended) = mend(path) else { return Err(fault) };
        // If it is no better, the first fault is the one to tell.
        Parser::parse(path, format, in_memory(mended)).map_err(|_| fault)
    }

    fn parse(path: &Path, format: Format, file: Input) -> Result<Parser, Fault> {
        let is_file = matches!(file.get_ref(), Source::File(..));
        let (metadata, book) = match format {
            Format::Xlsx => {
                let book = Xlsx::new(file).map_err(|error| fault(matches!(error, XlsxError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Xlsx(Box::new(book)))
            }
            Format::Xlsb => {
                let book = Xlsb::new(file).map_err(|error| fault(matches!(error, XlsbError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Xlsb(Box::new(book)))
            }
            Format::Xls => {
                let book = Xls::new(file).map_err(|error| match unknown_code_page(&error) {
                    Some(number) => Fault::new(format!("its texts are in code page {number}, which is not known here")),
                    None => fault(matches!(error, XlsError::Password), &error),
                })?;
                (book.sheets_metadata().to_vec(), Book::Xls(Box::new(book)))
            }
            Format::Ods => {
                let book = Ods::new(file).map_err(|error| fault(matches!(error, OdsError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Ods(Box::new(book)))
            }
        };
        // Charts and the like have no cells.
        let sheets = metadata.into_iter().filter(|sheet| sheet.typ == SheetType::WorkSheet).map(|sheet| sheet.name);
        let formulas = Formulas::new(is_file.then(|| path.to_owned()));
        Ok(Parser { path: path.to_owned(), sheets: sheets.collect(), book, formulas })
    }

    /// The names of the sheets that have cells, hidden ones too.
    pub fn sheets(&self) -> &[String] {
        &self.sheets
    }

    /// Gives every cell of a sheet that holds something.
    pub fn read<W: Write>(&mut self, sheet: usize, rows: &mut RowsOut<'_, W>) -> Result<(), Stop> {
        let Some(name) = self.sheets.get(sheet) else { return Err(format!("it has no sheet {sheet}").into()) };
        match &mut self.book {
            Book::Xlsx(book) => xlsx::give(book, &mut self.formulas, name, rows),
            Book::Xlsb(book) => xlsb(book, &self.path, name, rows),
            Book::Xls(book) => {
                let is_1904 = book.has_1904_epoch();
                range(&book.worksheet_range(name).map_err(damaged)?, is_1904, rows)
            }
            Book::Ods(book) => range(&book.worksheet_range(name).map_err(damaged)?, false, rows),
        }
    }
}

/// Two readers side by side: calamine has the values.
fn xlsb<W: Write>(book: &mut Xlsb<Input>, path: &Path, name: &str, rows: &mut RowsOut<'_, W>) -> Result<(), Stop> {
    let is_1904 = book.has_1904_epoch();
    let mut beside = Beside::open(path);
    let mut beside = beside.as_mut().and_then(|beside| beside.cells(name));
    // The next cell that calamine gives too, after the errors that it does not.
    let mut next_beside = |rows: &mut RowsOut<'_, W>| {
        while let Some(cell) = beside.as_mut().and_then(BesideCells::next) {
            match cell.error {
                Some(error) => rows.cell(cell.at.0, cell.at.1, Cell::Error(error))?,
                None => return Ok(Some(cell)),
            }
        }
        Ok::<_, Stop>(None)
    };
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    let mut text = String::new();
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        let at = cell.get_position();
        let format = next_beside(rows)?.filter(|beside| beside.at == at).and_then(|beside| beside.format);
        let number = match cell.get_value() {
            DataRef::Float(number) => Some(*number),
            DataRef::Int(number) => Some(*number as f64),
            _ => None,
        };
        match format.zip(number).and_then(|(format, number)| format.cell(number, &mut text)) {
            Some(cell) => rows.cell(at.0, at.1, cell)?,
            None => put(rows, at, cell.get_value(), is_1904)?,
        }
    }
    next_beside(rows).map(drop)
}

fn range<W: Write>(range: &calamine::Range<Data>, is_1904: bool, rows: &mut RowsOut<'_, W>) -> Result<(), Stop> {
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let at = (top.saturating_add(row as u32), left.saturating_add(column as u32));
        match value {
            Data::Empty => {}
            Data::Int(number) => rows.cell(at.0, at.1, Cell::Number(*number as f64))?,
            Data::Float(number) => rows.cell(at.0, at.1, Cell::Number(*number))?,
            Data::String(text) => rows.cell(at.0, at.1, Cell::Text(text))?,
            Data::Bool(boolean) => rows.cell(at.0, at.1, Cell::Boolean(*boolean))?,
            Data::Error(error) => rows.cell(at.0, at.1, Cell::Error(&error.to_string()))?,
            Data::DateTime(when) => put_date(rows, at, when, is_1904)?,
            Data::DateTimeIso(text) => rows.cell(at.0, at.1, serial::iso(text))?,
            Data::DurationIso(text) => match percentages::read(text) {
                Some(cell) => rows.cell(at.0, at.1, cell)?,
                None => put_duration(rows, at, text)?,
            },
        }
    }
    Ok(())
}

/// Gives a cell by its value alone.
#[inline]
pub fn put<W: Write>(
    rows: &mut RowsOut<'_, W>,
    (row, column): (u32, u32),
    value: &DataRef<'_>,
    is_1904: bool,
) -> Result<(), Stop> {
    let cell = match value {
        DataRef::Empty => return Ok(()),
        DataRef::Int(number) => Cell::Number(*number as f64),
        DataRef::Float(number) => Cell::Number(*number),
        DataRef::String(text) => Cell::Text(text),
        DataRef::SharedString(text) => Cell::Text(text),
        DataRef::Bool(boolean) => Cell::Boolean(*boolean),
        DataRef::Error(error) => return rows.cell(row, column, Cell::Error(&error.to_string())),
        DataRef::DateTime(when) => return put_date(rows, (row, column), when, is_1904),
        DataRef::DateTimeIso(text) => serial::iso(text),
        DataRef::DurationIso(text) => return put_duration(rows, (row, column), text),
    };
    rows.cell(row, column, cell)
}

fn put_date<W: Write>(
    rows: &mut RowsOut<'_, W>,
    (row, column): (u32, u32),
    when: &ExcelDateTime,
    is_1904: bool,
) -> Result<(), Stop> {
    if !when.is_duration() {
        return rows.cell(row, column, serial::date(when.as_f64(), is_1904));
    }
    match serial::elapsed(when.as_f64()) {
        Ok(cell) => rows.cell(row, column, cell),
        Err(text) => rows.cell(row, column, Cell::Text(&text)),
    }
}

fn put_duration<W: Write>(rows: &mut RowsOut<'_, W>, (row, column): (u32, u32), text: &str) -> Result<(), Stop> {
    match serial::iso_duration(text) {
        Ok(cell) => rows.cell(row, column, cell),
        Err(text) => rows.cell(row, column, Cell::Text(&text)),
    }
}

/// The number of a code page that calamine says it does not know.
fn unknown_code_page(error: &XlsError) -> Option<u32> {
    let said = error.to_string();
    let (number, _) = said.split_once("odepage ")?.1.split_once(' ')?;
    u32::from_str_radix(number, 16).ok()
}

fn fault(encrypted: bool, error: &impl std::fmt::Display) -> Fault {
    Fault { encrypted, reason: reason(error) }
}

/// Why a sheet that is not as it should be is read no further.
pub fn damaged(error: impl std::fmt::Display) -> Stop {
    Stop::Fault(reason(&error))
}

fn reason(error: &impl std::fmt::Display) -> String {
    format!("the workbook is damaged or cut short ({error})")
}
