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
use super::leading_zeros::LeadingZeros;
use super::limits::Activity;
use super::mend::mend;
use super::rows_out::{RowsOut, Stop};
use super::serve::Fault;
use super::xlsb::{Beside, BesideCells};
use crate::sheet::Cell;
use crate::sheet::cell::NOT_CALCULATED;
use crate::sheet::read::kind::Format;
use crate::sheet::read::serial;

type Input = BufReader<Source>;

/// Where a workbook's bytes come from. Whoever watches over the reader sees them being taken.
enum Source {
    File(File, Arc<Activity>),
    Mended(Cursor<Vec<u8>>),
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file, activity) => {
                activity.fed.store(true, Ordering::Relaxed);
                file.read(bytes)
            }
            Source::Mended(archive) => archive.read(bytes),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File(file, _) => file.seek(to),
            Source::Mended(archive) => archive.seek(to),
        }
    }
}

/// An open workbook.
pub struct Parser {
    path: PathBuf,
    sheets: Vec<String>,
    book: Book,
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
        let file = File::open(path).map_err(failed)?;
        let mut file = BufReader::new(Source::File(file, Arc::clone(activity)));
        if format == Format::Xls {
            return Parser::parse(path, format, file);
        }
        let look = archive::check(&mut file).map_err(Fault::new)?;
        let fault = match Parser::parse(path, format, file) {
            Ok(parser) if !look.has_utf16 => return Ok(parser),
            Ok(_) => Fault::new("a part of it is in UTF-16"),
            Err(fault) if fault.encrypted => return Err(fault),
            Err(fault) => fault,
        };
        let Some(mended) = mend(path) else { return Err(fault) };
        let mended = BufReader::new(Source::Mended(Cursor::new(mended)));
        // If it is no better, the first fault is the one to tell.
        Parser::parse(path, format, mended).map_err(|_| fault)
    }

    fn parse(path: &Path, format: Format, file: Input) -> Result<Parser, Fault> {
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
        Ok(Parser { path: path.to_owned(), sheets: sheets.collect(), book })
    }

    /// The names of the sheets that have cells, hidden ones too.
    pub fn sheets(&self) -> &[String] {
        &self.sheets
    }

    /// Gives every cell of a sheet that holds something.
    pub fn read<W: Write>(&mut self, sheet: usize, rows: &mut RowsOut<'_, W>) -> Result<(), Stop> {
        let Some(name) = self.sheets.get(sheet) else { return Err(format!("it has no sheet {sheet}").into()) };
        match &mut self.book {
            Book::Xlsx(book) => xlsx(book, name, rows),
            Book::Xlsb(book) => xlsb(book, &self.path, name, rows),
            Book::Xls(book) => {
                let is_1904 = book.has_1904_epoch();
                range(&book.worksheet_range(name).map_err(damaged)?, is_1904, rows)
            }
            Book::Ods(book) => range(&book.worksheet_range(name).map_err(damaged)?, false, rows),
        }
    }
}

/// One pass where that is enough. What a number format or a formula adds to the values takes calamine a way of its own
/// each, so a workbook with formats that show leading zeros takes a second pass, for the formulas. So does one with
/// errors that calamine has no name for.
fn xlsx<W: Write>(book: &mut Xlsx<Input>, name: &str, rows: &mut RowsOut<'_, W>) -> Result<(), Stop> {
    let mut given = 0;
    let mut odd = OddErrors::default();
    while !xlsx_pass(book, name, rows, &mut given, &odd)? {
        if !odd.0.is_empty() {
            return Err(damaged("its error values can't be followed"));
        }
        odd = OddErrors::find(book, name)?;
    }
    Ok(())
}

/// Gives the sheet's cells after the first `given`. False: there is an error among them that is not among the `odd`.
fn xlsx_pass<W: Write>(
    book: &mut Xlsx<Input>,
    name: &str,
    rows: &mut RowsOut<'_, W>,
    given: &mut u64,
    odd: &OddErrors,
) -> Result<bool, Stop> {
    let is_1904 = book.has_1904_epoch();
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    let formats = cells.styles().iter().map(|style| LeadingZeros::of(&style.number_format.as_ref()?.format_code));
    let formats: Vec<_> = formats.collect();
    if formats.iter().all(Option::is_none) {
        let mut nth = 0;
        loop {
            let cell = cells.next_cell_with_formula_metadata();
            match cell {
                Ok(None) => return Ok(true),
                Err(XlsxError::CellError(_)) => match odd.give(nth, *given, rows)? {
                    true => {}
                    false => return Ok(false),
                },
                // Perhaps it is the formula alone that can't be followed.
                Err(_) => break,
                Ok(Some(_)) if nth < *given => {}
                // A formula's record is large, so it is looked at where it lies.
                Ok(Some(ref cell)) if matches!(cell.value, DataRef::Empty) => {
                    if cell.formula.is_some() {
                        rows.cell(cell.pos.0, cell.pos.1, Cell::Error(NOT_CALCULATED))?;
                    }
                }
                Ok(Some(ref cell)) => put(rows, odd.checked(cell.pos, nth)?, &cell.value, is_1904)?,
            }
            nth += 1;
            *given = nth.max(*given);
        }
        drop(cells);
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        let mut nth = 0;
        loop {
            match cells.next_cell() {
                Ok(None) => return Ok(true),
                Err(XlsxError::CellError(_)) => match odd.give(nth, *given, rows)? {
                    true => {}
                    false => return Ok(false),
                },
                Err(error) => return Err(damaged(error)),
                Ok(Some(_)) if nth < *given => {}
                Ok(Some(cell)) => put(rows, odd.checked(cell.get_position(), nth)?, cell.get_value(), is_1904)?,
            }
            nth += 1;
            *given = nth.max(*given);
        }
    }

    let uncalculated = Marks::collect(|| match cells.next_cell_with_formula_metadata() {
        Ok(Some(cell)) => Some(cell.formula.is_some() && matches!(cell.value, DataRef::Empty)),
        Err(XlsxError::CellError(_)) => Some(false),
        Ok(None) | Err(_) => None,
    });
    drop(cells);
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    let mut nth = 0;
    loop {
        match cells.next_cell_with_style_id() {
            Ok(None) => return Ok(true),
            Err(XlsxError::CellError(_)) => match odd.give(nth, *given, rows)? {
                true => {}
                false => return Ok(false),
            },
            Err(error) => return Err(damaged(error)),
            Ok(Some(_)) if nth < *given => {}
            Ok(Some((cell, style))) => {
                let (row, column) = odd.checked(cell.get_position(), nth)?;
                let shown = match (cell.get_value(), formats.get(style)) {
                    (DataRef::Float(number), Some(Some(format))) => format.shown(*number),
                    _ => None,
                };
                match shown {
                    Some(text) => rows.cell(row, column, Cell::Text(&text))?,
                    None if uncalculated.get(nth) => rows.cell(row, column, Cell::Error(NOT_CALCULATED))?,
                    None => put(rows, (row, column), cell.get_value(), is_1904)?,
                }
            }
        }
        nth += 1;
        *given = nth.max(*given);
    }
}

/// Errors that calamine has no name for, such as `#SPILL!`. It stops at each without saying where, and can go on.
#[derive(Default)]
struct OddErrors(Vec<OddError>);

struct OddError {
    /// The cell's place among the sheet's cells, in the order in which they are stored.
    nth: u64,
    at: (u32, u32),
    text: String,
}

impl OddErrors {
    fn find(book: &mut Xlsx<Input>, name: &str) -> Result<OddErrors, Stop> {
        let mut found = Vec::new();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        for nth in 0.. {
            match cells.next_cell() {
                Ok(None) => break,
                Ok(Some(_)) => {}
                Err(XlsxError::CellError(text)) => found.push(OddError { nth, at: (0, 0), text }),
                Err(error) => return Err(damaged(error)),
            }
        }
        drop(cells);
        // Looking at formulas alone, it stops at none.
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        let (mut nth, mut wanted) = (0, found.iter_mut().peekable());
        while let Some(cell) = cells.next_formula().map_err(damaged)? {
            if let Some(odd) = wanted.next_if(|odd| odd.nth == nth) {
                odd.at = cell.get_position();
            }
            nth += 1;
        }
        Ok(OddErrors(found))
    }

    /// Gives the cell at `nth`, unless it is among the `given`. False: it is none of these.
    fn give<W: Write>(&self, nth: u64, given: u64, rows: &mut RowsOut<'_, W>) -> Result<bool, Stop> {
        let Ok(place) = self.0.binary_search_by_key(&nth, |odd| odd.nth) else { return Ok(false) };
        let odd = &self.0[place];
        if nth >= given {
            rows.cell(odd.at.0, odd.at.1, Cell::Error(&odd.text))?;
        }
        Ok(true)
    }

    /// The place of the cell at `nth`. Where cells do not say their column, calamine counts one too few after an error
    /// that it stopped at.
    fn checked(&self, at: (u32, u32), nth: u64) -> Result<(u32, u32), Stop> {
        let before = self.0.partition_point(|odd| odd.nth < nth);
        match before.checked_sub(1).map(|last| &self.0[last]) {
            Some(odd) if odd.at.0 == at.0 && odd.at.1 >= at.1 => {
                Err(damaged(format!("it has the error {} in a row whose cells do not say where they are", odd.text)))
            }
            _ => Ok(at),
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
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        let at = cell.get_position();
        let format = next_beside(rows)?.filter(|beside| beside.at == at).and_then(|beside| beside.format);
        let number = match cell.get_value() {
            DataRef::Float(number) => Some(*number),
            DataRef::Int(number) => Some(*number as f64),
            _ => None,
        };
        match format.zip(number).and_then(|(format, number)| format.shown(number)) {
            Some(text) => rows.cell(at.0, at.1, Cell::Text(&text))?,
            None => put(rows, at, cell.get_value(), is_1904)?,
        }
    }
    next_beside(rows).map(drop)
}

/// A bit for each cell, in the order in which they are stored.
#[derive(Default)]
struct Marks {
    words: Vec<u64>,
}

impl Marks {
    fn collect(mut next: impl FnMut() -> Option<bool>) -> Marks {
        let mut marks = Marks::default();
        let mut nth = 0;
        while let Some(mark) = next() {
            if mark {
                marks.words.resize(nth / 64 + 1, 0);
                if let Some(word) = marks.words.get_mut(nth / 64) {
                    *word |= 1 << (nth % 64);
                }
            }
            nth += 1;
        }
        marks
    }

    fn get(&self, nth: u64) -> bool {
        let word = usize::try_from(nth / 64).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word >> (nth % 64) & 1 == 1)
    }
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
            Data::DurationIso(text) => put_duration(rows, at, text)?,
        }
    }
    Ok(())
}

#[inline]
fn put<W: Write>(
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

fn damaged(error: impl std::fmt::Display) -> Stop {
    Stop::Fault(reason(&error))
}

fn reason(error: &impl std::fmt::Display) -> String {
    format!("the workbook is damaged or cut short ({error})")
}
