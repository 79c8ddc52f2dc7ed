//! A column of currencies.

use sheetport_sheet::{Cell, Row};
use sheetport_values::currency::CurrencyMark;

/// The currencies in a column.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrencyColumn {
    /// `None` for a constant.
    column: Option<usize>,
    last: String,
    /// The decimals of all currencies so far. `None` if some differ, or are not known.
    decimals: Option<u32>,
    is_known: bool,
}

impl CurrencyColumn {
    pub(super) fn new(column: usize) -> CurrencyColumn {
        CurrencyColumn { column: Some(column), ..CurrencyColumn::default() }
    }

    /// Returns the currency of all records.
    pub(super) fn constant(code: &str) -> CurrencyColumn {
        let mut currency = CurrencyColumn::default();
        currency.add(code);
        currency
    }

    pub(super) fn row(&mut self, row: &Row) {
        if let Some(Cell::Text(text)) = self.column.map(|column| row.get(column))
            && text != self.last
            && !text.trim().is_empty()
        {
            self.last.clear();
            self.last.push_str(text);
            self.add(text);
        }
    }

    fn add(&mut self, text: &str) {
        let decimals = CurrencyMark::parse(text).and_then(CurrencyMark::decimals);
        self.decimals = if self.is_known { self.decimals.filter(|known| decimals == Some(*known)) } else { decimals };
        self.is_known = true;
    }

    /// Returns the decimals of all currencies of the column.
    pub(super) fn decimals(&self) -> Option<u32> {
        self.decimals
    }
}
