//! Currencies in headers above amounts: `Price (EUR)`.

use sheetport_values::currency::{self, CurrencyMark};

use crate::bind::{Columns, Layout};
use crate::model::{FieldRule, Template};

/// Returns the currencies in the headers above amounts, by column, or an empty list if no header names a currency.
pub(crate) fn header_currencies(template: &Template, layout: &Layout) -> Vec<Option<CurrencyMark>> {
    let mut marks = vec![None; layout.header.names.len()];
    let of_record = template.rules().zip(&layout.columns);
    let of_lines = layout.numbered_lines.iter().flat_map(|line| template.lines.iter().zip(&line.columns));
    let of_cells = layout.cells.iter().flat_map(|cell| template.rules().zip(&cell.columns));
    for (rule, columns) in of_record.chain(of_lines).chain(of_cells) {
        if let Some(column) = amount_column(rule, columns)
            && let Some(mark) = marks.get_mut(column)
        {
            *mark = currency::in_header(&layout.header.names[column]);
        }
    }
    if marks.iter().any(Option::is_some) { marks } else { Vec::new() }
}

/// Returns the column of a rule for amounts of money from a single column.
pub(crate) fn amount_column(rule: &FieldRule, columns: &Columns) -> Option<usize> {
    match columns {
        Columns::One(column) if rule.field.is_money => Some(*column),
        _ => None,
    }
}
