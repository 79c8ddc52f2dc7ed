//! Rates of a tax written in two ways: 19 and 0.19.

use sheetport_findings::Code;

use super::numbers::{RowNumbers, Table};
use crate::finding::Finding;
use crate::roles::{Meaning, Roles};

/// Maximum number of different values: a country has a handful of rates, and amounts of tax have a hundredth of each other by chance.
const MAX_RATES: usize = 16;

/// The whole rates of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rates {
    column: usize,
    field: &'static str,
    values: Vec<f64>,
}

/// Returns the whole rates of each column, as far as they are few.
pub(super) fn rates(roles: &Roles, table: &Table) -> Vec<Rates> {
    let of_column = |(index, field): (usize, &'static str)| {
        let column = table.column(index)?;
        let rates = column.values.iter().flatten().map(|number| number.value).filter(|value| *value >= 1.0);
        let mut values: Vec<f64> = rates.collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        (!values.is_empty() && values.len() <= MAX_RATES).then_some(Rates { column: index, field, values })
    };
    let columns =
        roles.numbers.iter().filter(|(_, quantity)| quantity.meaning == Meaning::TaxRate && !quantity.is_fraction);
    columns.map(|(column, quantity)| (*column, quantity.field)).filter_map(of_column).collect()
}

/// Returns the rate of which `value` is a hundredth.
fn whole(value: f64, values: &[f64]) -> Option<f64> {
    let is_part = value > 0.0 && value < 1.0;
    values.iter().copied().find(|other| is_part && (value * 100.0 - other).abs() < 1e-9)
}

impl Rates {
    pub(super) fn judge(&self, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let rate = whole(numbers.number(self.column)?.value, &self.values)?;
        let shown = numbers.shown(self.column);
        if shown.contains('%') {
            return None;
        }
        Some(Finding {
            code: Code::PercentSign,
            remedy: format!("write {rate}% in the cell if that is meant, otherwise the percent sign after the number"),
            ..Finding::unlike_others(
                (self.column, self.field),
                shown,
                format!("is a hundredth of {rate}, which other rows have"),
            )
        })
    }
}
