//! Opens a workbook of any format and reads its sheets. XLSX and XLSB are streamed; calamine reads XLS and ODS whole.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calamine::{
    Data, Ods, OdsError, Reader, Sheet, SheetType, SheetVisible, Xls, XlsError, Xlsb, XlsbError, Xlsx, XlsxError,
};

use super::archive;
use super::cells::{damage, damaged, number, send_range};
use super::checksums::Checksums;
use super::formulas::Formulas;
use super::input::{Input, Source};
use super::ods::{Marker, parse_mark};
use super::repair::repair;
use super::xls::{XlsRecords, is_obfuscated};
use super::{xlsb, xlsx};
use crate::sheet::read::WorkbookFormat;
use crate::sheet::read::workbook::activity::Activity;
use crate::sheet::read::workbook::fault::{Fault, FaultKind};
use crate::sheet::read::workbook::protocol::SheetEntry;
use crate::sheet::read::workbook::row_ranges::RowRanges;
use crate::sheet::read::workbook::row_sender::{RowSender, Stop};
use crate::sheet::read::workbook::styles::NumberFormat;

/// An open workbook.
pub(in crate::sheet::read::workbook) struct Parser {
    path: PathBuf,
    sheets: Vec<SheetEntry>,
    book: Book,
    formulas: Formulas,
    checksums: Checksums,
    /// The formats of marked numbers, in ODS.
    marks: Vec<NumberFormat>,
    /// The hidden rows of each sheet, in ODS.
    hidden: Vec<RowRanges>,
}

enum Book {
    Xlsx(Box<Xlsx<Input>>),
    Xlsb(Box<Xlsb<Input>>),
    Xls(Box<Xls<Input>>),
    Ods(Box<Ods<Input>>),
}

impl Parser {
    /// Opens a workbook. If calamine cannot open a ZIP archive, repairs the archive if possible.
    pub(crate) fn open(path: &Path, format: WorkbookFormat, activity: &Arc<Activity>) -> Result<Parser, Fault> {
        let failed = |error: io::Error| Fault::new(error.to_string());
        let mut file = Source::file(File::open(path).map_err(failed)?, activity);
        if format == WorkbookFormat::Xls {
            if is_obfuscated(&mut file).map_err(failed)? {
                return Err(fault(true, &XlsError::Password));
            }
            file.rewind().map_err(failed)?;
            let checksums = Checksums::new(None, activity);
            return Parser::parse(path, format, file, checksums);
        }
        let checksums = || Checksums::new(Some(path), activity);
        let found = archive::check(&mut file).map_err(Fault::new)?;
        let (mut marks, mut hidden) = (Vec::new(), Vec::new());
        if format == WorkbookFormat::Ods {
            if let Some(found) = Marker::mark(&mut file) {
                (marks, hidden) = (found.formats, found.hidden);
                if let Some(archive) = found.archive {
                    activity.record_output();
                    file = Source::memory(archive, activity);
                }
            }
            file.rewind().map_err(failed)?;
        }
        let fault = match Parser::parse(path, format, file, checksums()) {
            Ok(parser) if !found.has_utf16 => return Ok(Parser { marks, hidden, ..parser }),
            Ok(_) => Fault::new("a part of it is in UTF-16"),
            Err(fault) if fault.kind == FaultKind::Encrypted => return Err(fault),
            Err(fault) => fault,
        };
        let Some((repaired, marks)) = repair(path) else { return Err(fault) };
        // If the repaired archive fails too, report the first fault.
        let parsed = Parser::parse(path, format, Source::memory(repaired, activity), checksums());
        parsed.map(|parser| Parser { marks, hidden, ..parser }).map_err(|_| fault)
    }

    fn parse(path: &Path, format: WorkbookFormat, file: Input, mut checksums: Checksums) -> Result<Parser, Fault> {
        let is_file = file.get_ref().is_file();
        let (metadata, book) = match format {
            WorkbookFormat::Xlsx => {
                let book = Xlsx::new(file).map_err(|error| fault(matches!(error, XlsxError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Xlsx(Box::new(book)))
            }
            WorkbookFormat::Xlsb => {
                let book = Xlsb::new(file).map_err(|error| fault(matches!(error, XlsbError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Xlsb(Box::new(book)))
            }
            WorkbookFormat::Xls => {
                let book = Xls::new(file).map_err(|error| match unknown_code_page(&error) {
                    Some(number) => Fault::new(format!("its texts are in code page {number}, which is not supported")),
                    None => fault(matches!(error, XlsError::Password), &error),
                })?;
                (book.sheets_metadata().to_vec(), Book::Xls(Box::new(book)))
            }
            WorkbookFormat::Ods => {
                let book = Ods::new(file).map_err(|error| fault(matches!(error, OdsError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Ods(Box::new(book)))
            }
        };
        // Charts and other kinds of sheets have no cells.
        let sheets = metadata.into_iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        let entry = |sheet: Sheet| SheetEntry { name: sheet.name, is_hidden: sheet.visible != SheetVisible::Visible };
        let sheets: Vec<SheetEntry> = sheets.map(entry).collect();
        if sheets.is_empty() {
            // No sheet will be read to its end.
            checksums.wait()?;
        }
        let formulas = Formulas::new(is_file.then(|| path.to_owned()));
        Ok(Parser { path: path.to_owned(), sheets, book, formulas, checksums, marks: Vec::new(), hidden: Vec::new() })
    }

    /// Returns the sheets with cells, including hidden ones.
    pub(crate) fn sheets(&self) -> &[SheetEntry] {
        &self.sheets
    }

    /// Sends all cells of a sheet. Returns its hidden rows.
    pub(crate) fn read(&mut self, sheet: usize, rows: &mut RowSender<'_>) -> Result<RowRanges, Stop> {
        let Some(SheetEntry { name, .. }) = self.sheets.get(sheet) else {
            return Err(format!("it has no sheet {sheet}").into());
        };
        self.checksums.start();
        let hidden: Result<Option<RowRanges>, Stop> = match &mut self.book {
            Book::Xlsx(book) => xlsx::send_sheet(book, &mut self.formulas, name, rows).map(|()| None),
            Book::Xlsb(book) => xlsb::send_sheet(book, &self.path, name, rows).map(Some),
            Book::Xls(book) => {
                let is_1904 = book.has_1904_epoch();
                let range = book.worksheet_range(name).map_err(damaged)?;
                let mut records = XlsRecords::open(&self.path);
                let cells = records.as_mut().and_then(|records| records.cells(sheet));
                send_range(&range, is_1904, |at, value| number(value).zip(cells.as_ref()?.format(at)), rows)?;
                Ok(cells.map(|cells| cells.hidden))
            }
            Book::Ods(book) => {
                let marked = |value: &Data| match value {
                    Data::DurationIso(text) => {
                        let (format, number) = parse_mark(text)?;
                        Some((number, self.marks.get(format)?))
                    }
                    _ => None,
                };
                let range = book.worksheet_range(name).map_err(damaged)?;
                send_range(&range, false, |_, value| marked(value), rows)?;
                Ok(self.hidden.get(sheet).cloned())
            }
        };
        let hidden = hidden?;
        let of_archive = self.checksums.wait().map_err(Stop::Fault)?;
        Ok(hidden.or_else(|| of_archive.get(name).cloned()).unwrap_or_default())
    }
}

/// Returns the number of the code page that calamine does not support.
fn unknown_code_page(error: &XlsError) -> Option<u32> {
    let message = error.to_string();
    let (number, _) = message.split_once("odepage ")?.1.split_once(' ')?;
    u32::from_str_radix(number, 16).ok()
}

fn fault(encrypted: bool, error: &impl std::fmt::Display) -> Fault {
    let kind = if encrypted { FaultKind::Encrypted } else { FaultKind::Unreadable };
    Fault { kind, reason: damage(error) }
}
