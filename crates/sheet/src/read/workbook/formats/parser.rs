//! Opens a workbook of any format and reads its sheets. XLSX and XLSB are streamed; calamine reads XLS and ODS whole.

use std::io;
use std::rc::Rc;

use calamine::{
    DataRef, Ods, OdsError, Reader, Sheet, SheetType, SheetVisible, Xls, XlsError, XlsOptions, Xlsb, XlsbError, Xlsx,
    XlsxError,
};

use secrecy::ExposeSecret;
use zip::ZipArchive;

use super::archive;
use super::cells::{Known, damage, damaged, send_range};
use super::checksums::Checksums;
use super::encryption::{decrypt_odf, decrypt_package};
use super::formulas::Formulas;
use super::input::{Input, Source};
use super::ods::{Mark, Marker, as_archive, parse_mark};
use super::repair::repair;
use super::rich_texts::RichTexts;
use super::tables::Tables;
use super::xls::{XlsRecords, decrypt_xls, is_obfuscated, unstated_code_page};
use super::{html, spreadsheet_xml, xlsb, xlsx};
use crate::read::WorkbookFormat;
use crate::read::appearance::Appearance;
use crate::read::workbook::fault::{Fault, FaultKind};
use crate::read::workbook::protocol::{Request, SheetEntry};
use crate::read::workbook::row_sender::{RowSender, Stop};
use crate::read::workbook::styles::NumberFormat;

/// An open workbook.
pub(crate) struct Parser {
    /// The archive or file for calamine.
    file: Source,
    sheets: Vec<SheetEntry>,
    book: Book,
    formulas: Formulas,
    checksums: Checksums,
    /// The formats of marked numbers, in ODS.
    marks: Vec<NumberFormat>,
    /// The appearance of each sheet, in ODS.
    appearances: Vec<Appearance>,
    /// Texts with raised, lowered or struck parts, once a sheet was read.
    rich: Option<Rc<RichTexts>>,
}

enum Book {
    Xlsx(Box<Xlsx<Input>>),
    Xlsb(Box<Xlsb<Input>>),
    Xls(Box<Xls<Input>>),
    Ods(Box<Ods<Input>>),
    Tables(Tables),
}

impl Parser {
    /// Opens a workbook. If calamine cannot open a ZIP archive, repairs the archive if possible.
    pub(crate) fn open(file: &Source, request: &Request) -> Result<Parser, Fault> {
        let activity = file.activity();
        let password = request.password.as_ref().map(|password| password.0.expose_secret());
        match request.format {
            WorkbookFormat::Html => {
                let tables = html::read(file, request.encoding.as_deref().unwrap_or_default())?;
                Ok(Parser::of_tables(tables, file))
            }
            WorkbookFormat::SpreadsheetXml => Ok(Parser::of_tables(spreadsheet_xml::read(file)?, file)),
            WorkbookFormat::Xls => Parser::open_xls(file, password),
            WorkbookFormat::Encrypted => {
                let package = Source::memory(decrypt_package(file, password)?, activity);
                Parser::open_archive(&package, format_of_package(&package))
            }
            WorkbookFormat::FlatOds => {
                let marked = as_archive(file)?;
                let archive = Source::memory(marked.archive.unwrap_or_default(), activity);
                let parser = Parser::parse(&archive, WorkbookFormat::Ods, Checksums::none(activity))?;
                Ok(Parser { marks: marked.formats, appearances: marked.appearances, ..parser })
            }
            WorkbookFormat::Ods => {
                let decrypted = decrypt_odf(file, password)?.map(|bytes| Source::memory(bytes, activity));
                Parser::open_archive(decrypted.as_ref().unwrap_or(file), WorkbookFormat::Ods)
            }
            WorkbookFormat::Xlsx | WorkbookFormat::Xlsb | WorkbookFormat::Zip => {
                Parser::open_archive(file, request.format)
            }
        }
    }

    fn open_archive(file: &Source, format: WorkbookFormat) -> Result<Parser, Fault> {
        let activity = file.activity();
        let found = archive::check(&mut file.input()).map_err(Fault::new)?;
        let (mut archive, mut marks, mut appearances) = (file.again(), Vec::new(), Vec::new());
        if format == WorkbookFormat::Ods
            && let Some(found) = Marker::mark(&mut file.input())
        {
            (marks, appearances) = (found.formats, found.appearances);
            if let Some(marked) = found.archive {
                activity.record_output();
                archive = Source::memory(marked, activity);
            }
        }
        let fault = match Parser::parse(&archive, format, Checksums::of_archive(file)) {
            Ok(parser) if !found.has_utf16 => return Ok(Parser { marks, appearances, ..parser }),
            Ok(_) => Fault::new("a part of it is in UTF-16"),
            Err(fault) if fault.kind == FaultKind::Encrypted => return Err(fault),
            Err(fault) => fault,
        };
        let Some((repaired, marks)) = repair(file) else { return Err(fault) };
        // If the repaired archive fails too, report the first fault.
        let repaired = Source::memory(repaired, activity);
        let parsed = Parser::parse(&repaired, format, Checksums::of_archive(file));
        parsed.map(|parser| Parser { marks, appearances, ..parser }).map_err(|_| fault)
    }

    fn open_xls(file: &Source, password: Option<&str>) -> Result<Parser, Fault> {
        let failed = |error: io::Error| Fault::new(error.to_string());
        if is_obfuscated(&mut file.input()).map_err(failed)? {
            return Err(fault(true, &XlsError::Password));
        }
        let decrypted = decrypt_xls(file, password)?.map(|bytes| Source::memory(bytes, file.activity()));
        Parser::parse(decrypted.as_ref().unwrap_or(file), WorkbookFormat::Xls, Checksums::none(file.activity()))
    }

    fn of_tables(tables: Tables, file: &Source) -> Parser {
        Parser {
            file: file.again(),
            sheets: tables.entries(),
            book: Book::Tables(tables),
            formulas: Formulas::new(file),
            checksums: Checksums::none(file.activity()),
            marks: Vec::new(),
            appearances: Vec::new(),
            rich: None,
        }
    }

    fn parse(source: &Source, format: WorkbookFormat, mut checksums: Checksums) -> Result<Parser, Fault> {
        let file = source.input();
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
                let mut options = XlsOptions::default();
                options.force_codepage = unstated_code_page(source);
                let book = Xls::new_with_options(file, options).map_err(|error| match unknown_code_page(&error) {
                    Some(number) => Fault::new(format!("its texts are in code page {number}, which is not supported")),
                    None => fault(matches!(error, XlsError::Password), &error),
                })?;
                (book.sheets_metadata().to_vec(), Book::Xls(Box::new(book)))
            }
            WorkbookFormat::Ods => {
                let book = Ods::new(file).map_err(|error| fault(matches!(error, OdsError::Password), &error))?;
                (book.sheets_metadata().to_vec(), Book::Ods(Box::new(book)))
            }
            WorkbookFormat::Html
            | WorkbookFormat::SpreadsheetXml
            | WorkbookFormat::FlatOds
            | WorkbookFormat::Encrypted
            | WorkbookFormat::Zip => {
                unreachable!("calamine does not read this format")
            }
        };
        // Charts and other kinds of sheets have no cells.
        let sheets = metadata.into_iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        let entry = |sheet: Sheet| SheetEntry { name: sheet.name, is_hidden: sheet.visible != SheetVisible::Visible };
        let sheets: Vec<SheetEntry> = sheets.map(entry).collect();
        if sheets.is_empty() {
            // No sheet will be read completely.
            checksums.wait()?;
        }
        let formulas = Formulas::new(source);
        Ok(Parser {
            file: source.again(),
            sheets,
            book,
            formulas,
            checksums,
            marks: Vec::new(),
            appearances: Vec::new(),
            rich: None,
        })
    }

    /// Returns the sheets with cells, including hidden ones.
    pub(crate) fn sheets(&self) -> &[SheetEntry] {
        &self.sheets
    }

    /// Sends all cells of a sheet. Returns its appearance.
    pub(crate) fn read(&mut self, sheet: usize, rows: &mut RowSender<'_>) -> Result<Appearance, Stop> {
        let Some(SheetEntry { name, .. }) = self.sheets.get(sheet) else {
            return Err(format!("it has no sheet {sheet}").into());
        };
        self.checksums.start();
        let rich = self.rich.get_or_insert_with(|| Rc::new(rich_texts(&self.book, &self.file)));
        rows.set_rich_texts(rich);
        let appearance: Result<Option<Appearance>, Stop> = match &mut self.book {
            Book::Xlsx(book) => xlsx::send_sheet(book, &mut self.formulas, (name, &self.file), rows).map(|()| None),
            Book::Xlsb(book) => xlsb::send_sheet(book, &self.file, name, rows).map(Some),
            Book::Xls(book) => {
                let is_1904 = book.has_1904_epoch();
                let range = book.worksheet_range(name).map_err(damaged)?;
                let mut records = XlsRecords::open(&self.file);
                let cells = records.as_mut().and_then(|records| records.cells(sheet));
                send_range(&range, is_1904, |at, value| cells.as_ref()?.known(at, value, is_1904), rows)?;
                Ok(cells.map(|cells| cells.appearance))
            }
            Book::Ods(book) => {
                let range = book.worksheet_range(name).map_err(damaged)?;
                let marks = &self.marks;
                let marked = |value: &_| match value {
                    DataRef::DurationIso(text) | DataRef::DateTimeIso(text) => match parse_mark(text)? {
                        Mark::Format(format, stored) => {
                            let value = match (value, stored.parse()) {
                                (DataRef::DateTimeIso(_), _) => DataRef::DateTimeIso(stored.to_owned()),
                                (_, Ok(number)) => DataRef::Float(number),
                                (_, Err(_)) => DataRef::DurationIso(stored.to_owned()),
                            };
                            Some(Known::Formatted(value, Some(marks.get(format)?)))
                        }
                        Mark::Boolean(boolean) => Some(Known::Boolean(boolean)),
                        Mark::Uncalculated => Some(Known::Uncalculated),
                    },
                    _ => None,
                };
                send_range(&range, false, |_, value| marked(value), rows)?;
                Ok(self.appearances.get(sheet).cloned())
            }
            Book::Tables(tables) => tables.send(sheet, rows).map(Some),
        };
        let appearance = appearance?;
        let of_archive = self.checksums.wait().map_err(Stop::Fault)?;
        Ok(appearance.or_else(|| of_archive.get(name).cloned()).unwrap_or_default())
    }
}

/// Returns the texts of a workbook with raised, lowered or struck parts, as far as they are stored once for all sheets.
fn rich_texts(book: &Book, file: &Source) -> RichTexts {
    let mut rich = RichTexts::default();
    match book {
        Book::Xlsx(_) => rich.add_shared(file),
        Book::Ods(_) => rich.add_ods(file),
        Book::Xls(_) => rich.add_xls(file),
        Book::Xlsb(_) => rich.add_xlsb(file),
        Book::Tables(_) => {}
    }
    rich
}

/// Distinguishes XLSX and XLSB.
fn format_of_package(package: &Source) -> WorkbookFormat {
    let archive = ZipArchive::new(package.input());
    let is_binary = |name: &str| name.eq_ignore_ascii_case("xl/workbook.bin");
    match archive.is_ok_and(|archive| archive.file_names().flatten().any(|name| is_binary(&name))) {
        true => WorkbookFormat::Xlsb,
        false => WorkbookFormat::Xlsx,
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
