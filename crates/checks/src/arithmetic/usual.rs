//! The usual price of an item that repeats: ten times as much, or the price of all units, is no special price.

use std::collections::HashMap;

use super::numbers::{Cells, Exact, RowNumbers, Table};
use crate::finding::Finding;
use crate::roles::{Meaning, Roles};

/// Fewest other rows of an item whose prices are its usual one.
const FEWEST: usize = 2;
/// How much the usual prices of an item may differ: customers have prices of their own.
const SPECIAL: f64 = 3.0;
/// A price so many times as large or small has lost a separator, or is one of another unit. Special prices are not so far away.
const TIMES: f64 = 9.5;
/// The share of the repeated prices that are near the usual one of their item, or prices say nothing about items.
const STEADY: f64 = 0.9;

/// The usual prices of the items of which a row has another one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Usual {
    /// The column of the item, and of the price with its field.
    item: usize,
    column: usize,
    field: &'static str,
    /// The column with the number of units.
    units: Option<usize>,
    prices: Vec<(String, f64)>,
}

/// Returns the usual prices of items that repeat. `items`: the columns of their identifiers, in the order of [`Cells::item`].
pub(super) fn usual(roles: &Roles, table: &Table, rows: &[Cells], items: &[usize]) -> Vec<Usual> {
    let is_price = |meaning: Meaning| matches!(meaning, Meaning::UnitPrice | Meaning::ItemPrice);
    let units = roles.numbers.iter().find(|(_, it)| it.meaning == Meaning::Count).map(|(column, _)| *column);
    let of_item = |(nth, item): (usize, usize)| {
        let prices = roles.numbers.iter().filter(move |(_, it)| is_price(it.meaning));
        let prices = prices.filter_map(|(column, it)| Some((table.column(*column)?, it.field)));
        prices.filter_map(move |(prices, field)| {
            let units_of = units.and_then(|units| table.column(units));
            let mut by_item: HashMap<&str, Vec<(f64, Option<f64>)>> = HashMap::new();
            for (at, (cells, price)) in rows.iter().zip(&prices.values).enumerate() {
                let (Some(item), Some(price)) = (cells.item(nth), price.filter(|price| price.value > 0.0)) else {
                    continue;
                };
                let units = units_of.and_then(|units| units.values.get(at).copied().flatten());
                by_item.entry(item).or_default().push((price.value, units.map(|units| units.value)));
            }
            let (mut all, mut near, mut odd) = (0, 0, Vec::new());
            for (item, prices) in by_item.iter().filter(|(_, prices)| prices.len() > FEWEST) {
                let mut sorted: Vec<f64> = prices.iter().map(|(price, _)| *price).collect();
                sorted.sort_unstable_by(f64::total_cmp);
                let middle = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
                let is_near = |price: f64| price / middle <= SPECIAL && middle / price <= SPECIAL;
                let of_item = sorted.iter().filter(|price| is_near(**price)).count();
                (all, near) = (all + prices.len(), near + of_item);
                if of_item >= FEWEST && prices.iter().any(|(price, units)| is_odd(*price, *units, middle)) {
                    odd.push(((*item).to_owned(), middle));
                }
            }
            odd.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            let is_steady = near as f64 >= STEADY * all as f64;
            let usual = Usual { item, column: prices.index, field, units, prices: odd };
            (is_steady && !usual.prices.is_empty()).then_some(usual)
        })
    };
    items.iter().copied().enumerate().flat_map(of_item).collect()
}

/// Whether a price is not the usual one, but that of all units, exchanged with them, or ten times as much or less.
fn is_odd(price: f64, units: Option<f64>, usual: f64) -> bool {
    let is_far = price / usual >= TIMES || usual / price >= TIMES;
    let is_same = |one: f64, other: f64| (one - other).abs() < 0.005;
    let is_other = !is_same(price, usual);
    is_far
        || units.is_some_and(|units| is_other && units > 1.0 && is_same(price, units * usual))
        || units.is_some_and(|units| is_other && is_same(units, usual) && usual.fract() > 0.0)
}

impl Usual {
    pub(super) fn judge(&self, roles: &Roles, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let cell = numbers.row.get(self.item);
        let shown = cell.shown();
        let (item, usual) = self.prices.iter().find(|(item, _)| item == shown.trim())?;
        let number = |column: usize| numbers.number(column).map(|Exact { value, .. }| value);
        let price = number(self.column).filter(|price| *price > 0.0)?;
        if !is_odd(price, self.units.and_then(number), *usual) {
            return None;
        }
        let name = roles.name_of(self.item);
        Some(Finding::unlike_others(
            (self.column, self.field),
            numbers.shown(self.column),
            format!("is not the price of '{item}' under {name} in the other rows, which is about {usual:.2}"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::{Cell, Row};

    use super::super::numbers::Notations;
    use super::*;
    use crate::features::Kind;
    use crate::roles::{Formed, Quantity};

    /// Returns the prices that are odd for their item.
    fn odd(lines: &[(&str, f64, f64)]) -> Vec<f64> {
        let number = |field, meaning| Quantity { field, meaning, is_fraction: false };
        let roles = Roles {
            formed: vec![Formed { column: 0, field: "itemExternalId", kind: Kind::Identifier, is_of_row: false }],
            numbers: vec![(1, number("quantity", Meaning::Count)), (2, number("price", Meaning::UnitPrice))],
            names: ["SKU", "Qty", "Price"].map(str::to_owned).to_vec(),
            ..Roles::default()
        };
        let row = |(number, (item, units, price)): (u64, &(&str, f64, f64))| {
            let mut row = Row::default();
            row.clear(number);
            row.push(Cell::Text(item));
            row.push(Cell::Number(*units));
            row.push(Cell::Number(*price));
            row
        };
        let rows: Vec<Row> = (2..).zip(lines).map(row).collect();
        let cells: Vec<Cells> = rows.iter().map(|row| Cells::of(row, &[1, 2], &[0])).collect();
        let notations = Notations::of(&[1, 2], &cells);
        let usual = usual(&roles, &notations.table(&[1, 2], &cells), &cells, &[0]);
        let is_odd = |row: &&Row| usual.iter().any(|it| it.judge(&roles, &notations.of_row(row)).is_some());
        rows.iter()
            .filter(is_odd)
            .filter_map(|row| notations.of_row(row).number(2))
            .map(|number| number.value)
            .collect()
    }

    #[test]
    fn a_price_that_an_item_never_has_is_odd() {
        let usual = |item, price| [(item, 2.0, price), (item, 3.0, price), (item, 5.0, price)];
        let all = [usual("A-1", 12.5), usual("A-2", 59.0), usual("A-3", 7.2)].concat();
        for (line, expected) in [
            (("A-1", 1.0, 125.0), vec![125.0]),
            (("A-1", 1.0, 1.25), vec![1.25]),
            (("A-2", 3.0, 177.0), vec![177.0]),
            (("A-1", 12.5, 4.0), vec![4.0]),
            // Prices of a customer, a promotion, a present, another item.
            (("A-1", 4.0, 11.0), vec![]),
            (("A-1", 4.0, 30.0), vec![]),
            (("A-1", 4.0, 0.0), vec![]),
            (("A-9", 4.0, 400.0), vec![]),
        ] {
            assert_eq!(odd(&[&all[..], &[line]].concat()), expected, "{line:?}");
        }
        // Prices that differ widely say nothing.
        let wide = [("A-1", 1.0, 3.0), ("A-1", 1.0, 12.0), ("A-1", 1.0, 60.0), ("A-1", 1.0, 200.0)];
        assert!(odd(&wide).is_empty());
    }
}
