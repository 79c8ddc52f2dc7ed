//! The value of a cell from its type and text.

use jiff::civil::{DateTime, Time, date};

use super::styles::Format;
use crate::Cell;
use crate::cell::NOT_CALCULATED;
use crate::read::workbook::dates;
use crate::read::workbook::styles::{Display, ShownText};

/// A stored cell.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Zero-based.
    pub column: usize,
    pub style: Option<String>,
    pub has_formula: bool,
    /// The type and text of the data, if any.
    pub data: Option<(String, String)>,
}

impl Stored {
    /// Returns the value, using `buffer` for a text made of a number.
    pub(super) fn cell<'t>(&'t self, display: Option<&Display>, buffer: &'t mut String) -> Cell<'t> {
        let Some((kind, text)) = &self.data else {
            return if self.has_formula { Cell::Error(NOT_CALCULATED) } else { Cell::Blank };
        };
        match kind.as_str() {
            "Number" => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => display.unwrap_or(&Display::Number).cell(number, false, buffer),
                _ => Cell::Text(text),
            },
            "DateTime" => match text.trim().trim_end_matches('Z').parse::<DateTime>() {
                Ok(at) => date_or_time(at, display, buffer),
                Err(_) => Cell::Text(text),
            },
            "Boolean" => match text.trim() {
                "1" => Cell::Boolean(true),
                "0" => Cell::Boolean(false),
                _ => Cell::Text(text),
            },
            "Error" => Cell::Error(text),
            _ => Cell::Text(text),
        }
    }

    /// Returns the displayed text of the cell, if different from the text of its value.
    pub(super) fn shown(&self, cell: &Cell<'_>, format: Option<&Format>) -> Option<ShownText> {
        let (kind, text) = self.data.as_ref()?;
        let stored = match kind.as_str() {
            "Number" => text.trim().parse().ok()?,
            "DateTime" => dates::time_of_day(cell),
            "Boolean" => 0.0,
            _ => return None,
        };
        format?.shown.as_ref()?.shown(cell, stored)
    }
}

/// Returns a date or time. Excel writes times as times on the day before its first day.
fn date_or_time<'t>(at: DateTime, display: Option<&Display>, buffer: &'t mut String) -> Cell<'t> {
    let epoch = date(1899, 12, 31);
    if display == Some(&Display::Elapsed) {
        let days = epoch.to_datetime(Time::midnight()).duration_until(at).as_secs_f64() / 86_400.0;
        // Programs take 1900 for a leap year.
        let days = if days >= 60.0 { days + 1.0 } else { days };
        return Display::Elapsed.cell(days, false, buffer);
    }
    // LibreOffice counts from the day before.
    if at.date() == epoch || at.date() == date(1899, 12, 30) {
        Cell::Time(at.time())
    } else if at.time() == Time::midnight() {
        Cell::Date(at.date())
    } else {
        Cell::DateTime(at)
    }
}
