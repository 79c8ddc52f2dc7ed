//! Constant arguments, parsed once for all rows.

use std::ops::Range;

use sheetport_documents::nearest;
use sheetport_sheet::cell::column_index;
use sheetport_values::date::{DateFormat, DateWriter};
use sheetport_values::locale::{self, Locale};
use sheetport_values::pattern::{self, Pattern};

use super::context::FixedCell;

/// Number of rows with cells for `cell("B2")`.
const FIXED_ROWS: u64 = 100;

#[derive(Clone, Debug)]
pub(super) enum Constant {
    Pattern(Pattern),
    Locale(Locale),
    Date(DateFormat),
    Output(DateWriter),
    Cell(FixedCell),
    Name(String),
}

/// Parses a constant. The error is a message and, if known, a range within the text.
pub(super) type ParseConstant = fn(&str) -> Result<Constant, (String, Option<Range<usize>>)>;

pub(super) fn pattern(text: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    pattern::compile(text).map(Constant::Pattern).map_err(|message| (message, None))
}

pub(super) fn locale(name: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    locale::find(name).map(Constant::Locale).ok_or_else(|| {
        let message = format!("'{name}' is not a known locale");
        match nearest(name, locale::names()) {
            Some(nearest) => (format!("{message}; did you mean '{nearest}'?"), None),
            None => (format!("{message}; the locales are {}", locale::names().join(", ")), None),
        }
    })
}

pub(super) fn date(pattern: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    DateFormat::parse(pattern).map(Constant::Date).map_err(|error| (error.message, Some(error.range)))
}

/// A pattern for writing dates.
pub(super) fn output(pattern: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    DateWriter::parse(pattern).map(Constant::Output).map_err(|error| (error.message, Some(error.range)))
}

/// Parses a cell such as `B2`. It must be among the first rows of the sheet, because these are known before mapping.
pub(super) fn cell(text: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let (letters, digits) = text.split_at(digits);
    match (column_index(&letters.to_ascii_uppercase()), digits.parse()) {
        (Some(column), Ok(row @ 1..=FIXED_ROWS)) => Ok(Constant::Cell(FixedCell { column, row })),
        (Some(_), Ok(row)) if row > FIXED_ROWS => {
            Err((format!("only cells of the first {FIXED_ROWS} rows can be used"), None))
        }
        _ => Err((format!("'{text}' is not a cell such as \"B2\""), None)),
    }
}

pub(super) fn name(text: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    let valid = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    match valid {
        true => Ok(Constant::Name(text.to_owned())),
        false => Err((format!("'{text}' is not a name; use letters, digits, _ and -"), None)),
    }
}
