//! Conversion of cells and values to worksheet cells.

use std::borrow::Cow;

use jiff::civil::{Date, DateTime, Time};
use rust_xlsxwriter::{ExcelDateTime, Format, Worksheet, XlsxError};
use sheetport_values::currency::CurrencyMark;

use super::text::cut;
use crate::Cell;
use crate::write::defuse::{escape, is_like_formula};
use crate::write::value::Value;

/// Number of digits that a double always preserves.
pub(crate) const EXACT_DIGITS: usize = 15;
/// Maximum width of a column, in characters.
pub const MAX_WIDTH: usize = 40;

/// The kind of format for a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    General,
    Text,
    /// A text that would become a formula if edited in another format.
    FormulaText,
    /// A number with this many decimals.
    Decimals(usize),
    /// A percentage with this many decimals.
    Percent(usize),
    Money(CurrencyMark),
    Date,
    Time,
    DateTime,
    /// A date and time with milliseconds.
    DateTimeMillis,
}

/// A cell in a writable form.
pub struct XlsxCell<'a> {
    content: Content<'a>,
    pub kind: CellKind,
    /// The text was too long and is cut.
    pub is_cut: bool,
}

enum Content<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Boolean(bool),
    DateTime(ExcelDateTime),
}

impl<'a> XlsxCell<'a> {
    /// Converts a cell, or returns `None` for a blank. Dates and numbers that Excel cannot store become text.
    pub fn from_cell(cell: &Cell<'a>) -> Option<XlsxCell<'a>> {
        let of = |kind, content: Option<Content<'a>>| match content {
            Some(content) => XlsxCell { content, kind, is_cut: false },
            None => XlsxCell::text(kind, cell.shown()),
        };
        let date_time = |date, time| excel_date_time(date, time).map(Content::DateTime);
        let number = |number: f64| number.is_finite().then_some(Content::Number(number));
        Some(match *cell {
            Cell::Blank | Cell::Text("") => return None,
            // A retry takes the number of an unedited cell from the ledger.
            Cell::Text(text) | Cell::Formatted(_, text) => XlsxCell::foreign_text(text),
            Cell::Error(_) => of(CellKind::General, None),
            Cell::Boolean(boolean) => of(CellKind::General, Some(Content::Boolean(boolean))),
            Cell::Number(value) => of(CellKind::General, number(value)),
            Cell::Rounded(value, decimals) => of(CellKind::Decimals(usize::from(decimals)), number(value)),
            Cell::Percent(value) => {
                let decimals = cell.shown().split_once('.').map_or(0, |(_, decimals)| decimals.len() - "%".len());
                of(CellKind::Percent(decimals), number(value))
            }
            Cell::Money(value, currency) => of(CellKind::Money(currency), number(value)),
            Cell::Date(date) => of(CellKind::Date, date_time(Some(date), None)),
            Cell::Time(time) => of(CellKind::Time, date_time(None, Some(time))),
            Cell::DateTime(at) => of(CellKind::DateTime, date_time(Some(at.date()), Some(at.time()))),
        })
    }

    /// Converts a value, or returns `None` for a blank. Numbers show all decimals; digits not preserved by a
    /// double become text.
    pub fn from_value(value: &'a Value<'_>) -> Option<XlsxCell<'a>> {
        Some(match value {
            Value::Blank => return None,
            Value::Text(text) if text.is_empty() => return None,
            Value::Text(text) => XlsxCell::foreign_text(text),
            Value::Boolean(boolean) => {
                XlsxCell { content: Content::Boolean(*boolean), kind: CellKind::General, is_cut: false }
            }
            Value::Number(digits) => XlsxCell::number(digits),
            Value::Digits(digits) => XlsxCell::number(digits),
            Value::DateTime { at, text } => XlsxCell::date_time(*at, text),
        })
    }

    fn foreign_text(text: &'a str) -> XlsxCell<'a> {
        let kind = if is_like_formula(text) { CellKind::FormulaText } else { CellKind::Text };
        XlsxCell::text(kind, escape(text))
    }

    fn text(kind: CellKind, text: Cow<'a, str>) -> XlsxCell<'a> {
        match cut(&text) {
            Cow::Owned(cut) => XlsxCell { content: Content::Text(Cow::Owned(cut)), kind, is_cut: true },
            Cow::Borrowed(_) => XlsxCell { content: Content::Text(text), kind, is_cut: false },
        }
    }

    fn number(digits: &'a str) -> XlsxCell<'a> {
        let Some((number, decimals)) = exact_number(digits) else {
            return XlsxCell::text(CellKind::Text, Cow::Borrowed(digits));
        };
        let kind = decimals.map_or(CellKind::General, CellKind::Decimals);
        XlsxCell { content: Content::Number(number), kind, is_cut: false }
    }

    fn date_time(at: DateTime, text: &'a str) -> XlsxCell<'a> {
        let nanos = at.subsec_nanosecond();
        let kind = if nanos == 0 { CellKind::DateTime } else { CellKind::DateTimeMillis };
        // Excel shows milliseconds at most.
        match excel_date_time(Some(at.date()), Some(at.time())) {
            Some(at) => XlsxCell { content: Content::DateTime(at), kind, is_cut: false },
            None => XlsxCell::text(CellKind::Text, Cow::Borrowed(text)),
        }
    }

    /// Returns the width of the cell in characters. Dates and numbers wider than their column would appear as `####`.
    pub fn width(&self) -> usize {
        match (&self.content, self.kind) {
            (Content::Text(text), _) => text.lines().next().map_or(0, |line| line.chars().take(MAX_WIDTH).count()),
            (Content::Boolean(_), _) => 6,
            (Content::Number(number), CellKind::Decimals(decimals)) => format!("{number:.decimals$}").len() + 1,
            (Content::Number(number), CellKind::Percent(_)) => Cell::Percent(*number).shown().len() + 1,
            (Content::Number(number), CellKind::Money(currency)) => format!("{number:.2} {currency}").len() + 3,
            (Content::Number(number), _) => number.to_string().len() + 1,
            (Content::DateTime(_), CellKind::Date) => 11,
            (Content::DateTime(_), CellKind::Time) => 9,
            (Content::DateTime(_), CellKind::DateTimeMillis) => 24,
            (Content::DateTime(_), _) => 20,
        }
    }

    /// Returns the text of a text cell.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Writes the cell with `format`, or with the format of its column. Text is never written as a formula.
    pub fn write(
        &self,
        sheet: &mut Worksheet,
        row: u32,
        column: u16,
        format: Option<&Format>,
    ) -> Result<(), XlsxError> {
        match (&self.content, format) {
            (Content::Text(text), None) => sheet.write_string(row, column, &**text)?,
            (Content::Text(text), Some(format)) => sheet.write_string_with_format(row, column, &**text, format)?,
            (Content::Number(number), None) => sheet.write_number(row, column, *number)?,
            (Content::Number(number), Some(format)) => sheet.write_number_with_format(row, column, *number, format)?,
            (Content::Boolean(value), None) => sheet.write_boolean(row, column, *value)?,
            (Content::Boolean(value), Some(format)) => sheet.write_boolean_with_format(row, column, *value, format)?,
            (Content::DateTime(at), None) => sheet.write_datetime(row, column, at)?,
            (Content::DateTime(at), Some(format)) => sheet.write_datetime_with_format(row, column, at, format)?,
        };
        Ok(())
    }
}

/// Parses digits as a double and counts the decimals (`None` with an exponent). Returns `None` if the double has other digits,
/// and for integers that spreadsheet programs would round on display: most of these are identifiers.
fn exact_number(digits: &str) -> Option<(f64, Option<usize>)> {
    let number: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    if digits.bytes().filter(u8::is_ascii_digit).count() > EXACT_DIGITS {
        let without_zeros = digits.contains('.').then(|| digits.trim_end_matches('0').trim_end_matches('.'))?;
        let whole = without_zeros.split('.').next().unwrap_or_default();
        let is_long_integer = !without_zeros.contains('.') && whole.trim_start_matches('-').len() > EXACT_DIGITS;
        if number.to_string() != without_zeros || is_long_integer {
            return None;
        }
    }
    let decimals = match digits.split_once('.') {
        _ if digits.contains(['e', 'E']) => None,
        Some((_, decimals)) => Some(decimals.len()),
        None => Some(0),
    };
    Some((number, decimals))
}

/// Converts a date or time. Returns `None` for dates that Excel cannot represent: before 1900 and after 9999.
fn excel_date_time(date: Option<Date>, time: Option<Time>) -> Option<ExcelDateTime> {
    let clock = time.map(|time| {
        let (hour, minute, second) = (time.hour() as u16, time.minute() as u8, time.second() as u8);
        (hour, minute, second, (time.subsec_nanosecond() / 1_000_000) as u16)
    });
    let Some(date) = date else {
        let (hour, minute, second, milli) = clock?;
        return ExcelDateTime::from_hms_milli(hour, minute, second, milli).ok();
    };
    // Days before the first day of 1900 would be read as times.
    if date.year() < 1900 {
        return None;
    }
    let day = ExcelDateTime::from_ymd(u16::try_from(date.year()).ok()?, date.month() as u8, date.day() as u8).ok()?;
    match clock {
        Some((hour, minute, second, milli)) => day.and_hms_milli(hour, minute, second, milli).ok(),
        None => Some(day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_numbers_if_a_double_preserves_them() {
        for (digits, read) in [
            ("0", Some((0.0, Some(0)))),
            ("-19.90", Some((-19.9, Some(2)))),
            ("4006381333931", Some((4_006_381_333_931.0, Some(0)))),
            ("1e5", Some((100_000.0, None))),
            ("123456789012345", Some((123_456_789_012_345.0, Some(0)))),
            ("1234567890123456", None),
            ("1234567890123456.0", None),
            ("33.333333333333336", Some((33.333_333_333_333_336, Some(15)))),
            ("-0.1234567890123456", Some((-0.123_456_789_012_345_6, Some(16)))),
            ("0.10000000000000000000", Some((0.1, Some(20)))),
            ("10.000000000000000000", Some((10.0, Some(18)))),
            ("-27.750000000000000000", Some((-27.75, Some(18)))),
            ("123456789012345.000", Some((123_456_789_012_345.0, Some(3)))),
            ("0.000000000000000000", Some((0.0, Some(18)))),
            ("0.12345678901234567890", None),
            ("12345678901.123456789", None),
            ("1.234567890123456e5", None),
            ("1e999", None),
        ] {
            assert_eq!(exact_number(digits), read, "{digits}");
        }
    }

    #[test]
    fn long_texts_are_cut_and_reported() {
        let long = "a".repeat(crate::write::MAX_TEXT + 1);
        assert!(XlsxCell::from_cell(&Cell::Text(&long)).is_some_and(|cell| cell.is_cut));
        assert!(XlsxCell::from_cell(&Cell::Text(&long[1..])).is_some_and(|cell| !cell.is_cut));
    }

    #[test]
    fn widths_fit_the_shown_value() {
        let width = |value: Value<'_>| XlsxCell::from_value(&value).map(|cell| cell.width());
        assert_eq!(width(Value::Number("-19.90")), Some("-19.90".len() + 1));
        assert_eq!(width(Value::Text("two\nlines".into())), Some(3));
        assert_eq!(width(Value::Blank), None);
        assert_eq!(XlsxCell::from_cell(&Cell::Percent(0.195)).map(|cell| cell.width()), Some("19.5%".len() + 1));
    }
}
