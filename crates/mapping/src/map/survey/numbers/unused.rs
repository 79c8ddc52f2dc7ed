//! Unused columns as evidence for the notation of a sheet's numbers.

use sheetport_sheet::{Cell, Row};
use sheetport_values::currency;
use sheetport_values::number::Mark;
use sheetport_values::number::style::{ColumnStyle, common_decimal};

use super::currency_column::CurrencyColumn;
use crate::bind::Layout;
use crate::words::amounts::is_measure;

/// Number of rows used as evidence. Less than a first chunk of rows, so that later rows change nothing.
const EVIDENCE_ROWS: u64 = 2000;
/// Maximum number of columns to examine.
const MAX_COLUMNS: usize = 40;

/// The columns without a field that contain amounts or currencies.
#[derive(Clone, Debug, Default)]
pub(super) struct UnusedNumbers {
    rows: u64,
    amounts: Vec<(usize, ColumnStyle)>,
    /// Columns with only currency codes so far.
    currencies: Vec<(usize, CurrencyColumn)>,
}

impl UnusedNumbers {
    pub(super) fn new(layout: &Layout) -> UnusedNumbers {
        let columns = || layout.unused.iter().copied().take(MAX_COLUMNS);
        // The numbers of other columns may be codes, dates, versions or coordinates.
        let is_amount = |column: &usize| layout.header.names.get(*column).is_some_and(|name| is_measure(name));
        UnusedNumbers {
            rows: 0,
            amounts: columns().filter(is_amount).map(|column| (column, ColumnStyle::default())).collect(),
            currencies: columns().map(|column| (column, CurrencyColumn::new(column))).collect(),
        }
    }

    pub(super) fn row(&mut self, row: &Row) {
        if self.rows >= EVIDENCE_ROWS || self.amounts.is_empty() && self.currencies.is_empty() {
            return;
        }
        self.rows += 1;
        for (column, style) in &mut self.amounts {
            if let Cell::Text(text) = row.get(*column) {
                style.add(row.number, text);
            }
        }
        self.currencies.retain_mut(|(column, currency)| match row.get(*column) {
            Cell::Blank => true,
            Cell::Text(text) if currency::is_code(text.trim()) => {
                currency.row(row);
                true
            }
            _ => false,
        });
    }

    /// Returns the only decimal separator of the amounts.
    pub(super) fn decimal(&self) -> Option<Mark> {
        common_decimal(self.amounts.iter().map(|(_, style)| style))
    }

    /// Returns the decimals of the currencies, or `None` if several columns differ.
    pub(super) fn currency_decimals(&self) -> Option<u32> {
        let mut known = self.currencies.iter().filter_map(|(_, currency)| currency.decimals());
        let first = known.next()?;
        known.all(|other| other == first).then_some(first)
    }
}
