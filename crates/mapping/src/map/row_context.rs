//! The cells of a row as values of an expression.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil;
use jiff::tz::TimeZone;
use sheetport_values::budget::{Budget, Exceeded};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::decimal::Decimal;
use sheetport_values::number::{self, AmbiguousNumber, Notation, NumberError, Percent};

use super::super::facts::Facts;
use super::super::language::{Context, ExpressionError, FixedCell};
use super::super::problem::Cause;
use crate::typed_value::Value;

/// The columns of one expression, in its order, in one row.
pub(crate) struct RowContext<'r> {
    /// Values, each with the notation of its numbers if it is a text.
    pub(super) values: Vec<(Value<'r>, Notation<'r>)>,
    /// The displayed texts of workbook cells, in a field for texts.
    pub(super) shown: Vec<Option<&'r str>>,
    pub(super) row: u64,
    /// The values of the template's parameters by name.
    pub(super) parameters: &'r BTreeMap<String, Value<'static>>,
    pub(super) facts: &'r Facts,
    /// The time zone of dates and local times.
    pub(super) time_zone: Option<&'r TimeZone>,
    pub(super) budget: &'r Budget,
    /// The first ambiguous number used by the expression.
    pub(super) ambiguous: OnceCell<Arc<AmbiguousNumber>>,
    /// The last column whose cell is not a number.
    pub(super) not_a_number: Cell<Option<usize>>,
}

impl<'r> RowContext<'r> {
    /// Returns why an expression can't be evaluated.
    pub(super) fn cause(&self, error: ExpressionError, written: &str) -> Cause {
        match (self.budget.exceeded(), self.ambiguous.get()) {
            (Some(exceeded), _) => Cause::TooMuch(exceeded),
            (None, Some(number)) => Cause::AmbiguousInExpression(Arc::clone(number)),
            (None, None) => Cause::Expression { reason: error.message, source: written.to_owned() },
        }
    }

    /// Returns the column at fault, if it is known. `columns` are those of the part of the expression that can't be evaluated.
    pub(super) fn column_at_fault(&self, columns: &BTreeSet<usize>) -> Option<usize> {
        let only = columns.first().copied().filter(|_| columns.len() == 1);
        only.or(self.not_a_number.get().filter(|column| columns.contains(column)))
    }

    fn column(&self, column: usize) -> Result<&(Value<'r>, Notation<'r>), String> {
        self.values.get(column).ok_or_else(|| "this column is not in the sheet".to_owned())
    }
}

impl Context for RowContext<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, String> {
        let (value, _) = self.column(column)?;
        Ok(borrowed(value))
    }

    fn shown(&self, column: usize) -> Option<&str> {
        self.shown.get(column).copied().flatten()
    }

    fn amount(&self, column: usize) -> Result<(Decimal, Option<CurrencyMark>), String> {
        let (value, notation) = self.column(column)?;
        let text = value.text();
        let amount = number::parse_in(&text, *notation)
            .and_then(|parsed| Ok((parsed.resolve(Some(Percent::Fraction))?, parsed.currency)));
        amount.map_err(|error| {
            if let NumberError::Ambiguous(ambiguous) = &error {
                self.ambiguous.get_or_init(|| Arc::clone(ambiguous));
            }
            self.not_a_number.set(Some(column));
            format!("'{text}' {error}")
        })
    }

    fn spend(&self, read: usize, made: usize) -> Result<(), Exceeded> {
        self.budget.step(read)?;
        self.budget.text(made)
    }

    fn today(&self) -> Option<civil::Date> {
        self.facts.today
    }

    fn time_zone(&self) -> Option<&TimeZone> {
        self.time_zone
    }

    fn sheet_name(&self) -> Option<&str> {
        self.facts.sheet.as_deref()
    }

    fn file_name(&self) -> Option<&str> {
        self.facts.file.as_deref()
    }

    fn cell(&self, cell: FixedCell) -> Option<Value<'_>> {
        self.facts.cell(cell).cloned()
    }

    fn row_number(&self) -> Option<u64> {
        Some(self.row)
    }

    fn parameter(&self, name: &str) -> Option<Value<'_>> {
        self.parameters.get(name).map(borrowed)
    }
}

/// Returns a value without copying its text.
fn borrowed<'v>(value: &'v Value<'_>) -> Value<'v> {
    match value {
        Value::Text(text) => Value::Text(text.as_ref().into()),
        other => other.clone(),
    }
}
