//! The input of an evaluation.

use jiff::civil;
use jiff::tz::TimeZone;
use sheetport_values::budget::Exceeded;
use sheetport_values::currency::CurrencyMark;
use sheetport_values::decimal::Decimal;

use crate::typed_value::Value;

/// The cells of a row, and the facts about its file. Unknown facts are `None`.
pub trait Context {
    /// Returns the value of a column of [`Expression::columns`](super::Expression::columns), or a message.
    fn value(&self, column: usize) -> Result<Value<'_>, String>;

    /// Returns the displayed text of a workbook cell, if wanted and different from the text of its value.
    fn shown(&self, _column: usize) -> Option<&str> {
        None
    }

    /// Returns the number in a text cell, read in the style of its column, and the currency beside it. The error message quotes
    /// the cell.
    fn amount(&self, column: usize) -> Result<(Decimal, Option<CurrencyMark>), String>;

    /// Takes a step from the budget of the row. `read` and `made` are the lengths of the texts in bytes. Unlimited without a
    /// budget.
    fn spend(&self, _read: usize, _made: usize) -> Result<(), Exceeded> {
        Ok(())
    }

    fn today(&self) -> Option<civil::Date> {
        None
    }

    /// Returns the time zone of dates and local times, for comparing them with times that have an offset from UTC.
    fn time_zone(&self) -> Option<&TimeZone> {
        None
    }

    /// Returns the number of the row as in a spreadsheet program.
    fn row_number(&self) -> Option<u64> {
        None
    }

    fn sheet_name(&self) -> Option<&str> {
        None
    }

    fn file_name(&self) -> Option<&str> {
        None
    }

    /// Returns a cell of the sheet. Columns count from 0, rows from 1.
    fn cell(&self, _cell: FixedCell) -> Option<Value<'_>> {
        None
    }

    /// Returns the value of a parameter of the template.
    fn parameter(&self, _name: &str) -> Option<Value<'_>> {
        None
    }
}

/// The place of a cell such as `B2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedCell {
    /// Counted from 0.
    pub column: usize,
    /// Counted from 1.
    pub row: u64,
}
