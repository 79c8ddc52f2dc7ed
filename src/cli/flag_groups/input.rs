//! Flags for the input file and for reading a CSV.

use std::path::PathBuf;

use clap::Args;
use sheetport_findings::Code;
use sheetport_mapping::load::SheetKeys;
use sheetport_operations::{CurrencyCode, LocaleName, Question, TemplateChanges, ZoneName};
use sheetport_sheet::Options;

/// Help heading of [`Reading`]. Set on each flag, because a heading of the struct would also apply to later flags.
const READING: &str = "Reading a CSV, if it is detected wrongly";

/// A spreadsheet and a template.
#[derive(Args, Debug, Default)]
pub struct Input {
    /// Spreadsheet: CSV or other text, a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods, .fods, XML Spreadsheet 2003), or a web
    /// page with tables; also in a .zip of one file; - for standard input
    pub file: PathBuf,
    /// Name of a built-in template, or path of a template file [default: the one that fits the file best, of the built-in
    /// templates, those next to the file, and those of earlier runs]
    #[arg(short, long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// Sheet of a workbook, by name or number; "*" for every sheet with the template's columns [default: the first
    /// such sheet]
    #[arg(long, value_name = "SHEET")]
    pub sheet: Option<String>,
    /// Set a parameter of the template: warehouse=W1
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    pub set: Vec<(String, String)>,
    #[command(flatten)]
    pub of_sheet: OfSheet,
    /// Folder whose files the template may extend or use as lookup tables, besides those below its own folder
    #[arg(long, value_name = "FOLDER")]
    pub allow_lookup: Vec<PathBuf>,
    /// Read the cells as they were edited in `sheetport review`, and leave out the rows that were left out there
    #[arg(long)]
    pub reviewed: bool,
    /// Answer a question about rows or the file with yes, by its code: its rows are sent, with a warning. Can be repeated
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = question)]
    pub accept: Vec<Code>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Parses the name and the value of a parameter.
pub(in crate::cli) fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected a name and a value, such as warehouse=W1".to_owned()),
    }
}

impl Input {
    /// Returns the changes of the template, which has the defaults of the profile.
    pub fn changes<'a>(&'a self, defaults: SheetKeys<'a>) -> TemplateChanges<'a> {
        TemplateChanges {
            parameters: &self.set,
            sheet: self.of_sheet.keys(),
            defaults,
            lookup_folders: &self.allow_lookup,
        }
    }
}

/// Parses the code of a question.
pub(in crate::cli) fn question(text: &str) -> Result<Code, String> {
    text.parse().map(|Question(code)| code)
}

/// What the sheet does not say of itself.
#[derive(Args, Debug, Default)]
pub struct OfSheet {
    /// How the sheet writes numbers and dates, such as de for 1.234,50 [default: the template's locale, that of the
    /// profile, or auto: each column decides]
    #[arg(long, value_name = "LOCALE")]
    pub locale: Option<LocaleName>,
    /// Time zone of dates with a time of day but without a zone, such as Europe/Berlin [default: the template's, or that of
    /// the profile]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<ZoneName>,
    /// Currency of records with an amount, such as EUR, if nothing in the sheet says one [default: the template's, or that
    /// of the profile]
    #[arg(long, value_name = "CODE")]
    pub currency: Option<CurrencyCode>,
}

impl OfSheet {
    /// Returns the flags as keys of `[sheet]` of a template.
    pub fn keys(&self) -> SheetKeys<'_> {
        SheetKeys {
            locale: self.locale.as_ref().map(|name| name.0.as_str()),
            time_zone: self.time_zone.as_ref().map(|name| name.0.as_str()),
            currency: self.currency.as_ref().map(|code| code.0.as_str()),
        }
    }
}

impl OfSheet {
    /// Returns the flags in use, as name and value.
    pub fn in_use(&self) -> Vec<(&'static str, &str)> {
        let SheetKeys { locale, time_zone, currency } = self.keys();
        let flags = [("locale", locale), ("time-zone", time_zone), ("currency", currency)];
        flags.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// How to read a text file, and the password of a workbook.
#[derive(Args, Debug, Default)]
pub struct Reading {
    /// Character between fields, or "tab" or "space"
    #[arg(long, help_heading = READING, value_name = "CHAR", value_parser = Options::delimiter_named)]
    pub delimiter: Option<u8>,
    /// Encoding, such as windows-1252, cp850 or utf-16le
    #[arg(long, help_heading = READING, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Character around fields, or "none"
    #[arg(long, help_heading = READING, value_name = "CHAR", value_parser = mark)]
    pub quote: Option<Mark>,
    /// Character before a quote that is part of a field, or "none" if quotes are doubled
    #[arg(long, help_heading = READING, value_name = "CHAR", value_parser = mark)]
    pub escape: Option<Mark>,
    /// File with the password of an encrypted workbook, on its first line
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

impl Reading {
    /// Returns the flags as reading options.
    pub fn options(&self) -> Options {
        Options {
            delimiter: self.delimiter,
            encoding: self.encoding.clone(),
            quote: self.quote.map(|mark| mark.0),
            escape: self.escape.map(|mark| mark.0),
            password_file: self.password_file.clone(),
        }
    }

    /// Returns the flags in use, as name and value.
    pub fn in_use(&self) -> Vec<(&'static str, String)> {
        let delimiter = |byte| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
        let mark = |mark: Mark| mark.0.map_or("none".to_owned(), |byte| char::from(byte).to_string());
        let flags = [
            ("delimiter", self.delimiter.map(delimiter)),
            ("encoding", self.encoding.clone()),
            ("quote", self.quote.map(mark)),
            ("escape", self.escape.map(mark)),
            ("password-file", self.password_file.as_ref().map(|path| path.display().to_string())),
        ];
        flags.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// A character, or `None` for the value "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub Option<u8>);

fn mark(text: &str) -> Result<Mark, String> {
    Options::mark_named(text).map(Mark)
}
