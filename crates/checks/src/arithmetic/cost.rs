//! Prices below the cost beside them. One among many is a mistake of its row; many are exchanged columns, or one that was sorted alone.

use sheetport_findings::Code;

use super::numbers::{RowNumbers, Table};
use crate::finding::Finding;
use crate::roles::Roles;

const PRICE: &str = "price";
/// Fewest rows by which one price is below its cost and the others are not.
const FEWEST: usize = 20;
/// Fewest rows by which nine of ten prices below their cost are exchanged with it.
const FEWEST_EXCHANGED: usize = 3;
/// Fewest rows by which a quarter is too many: clearance sales are a few.
const FEWEST_MIXED: usize = 10;

/// Fewest prices that were exchanged with their costs in a part of the rows: that so many clearance sales all have the usual margin, upside
/// down, is no chance.
const FEWEST_OF_BLOCK: usize = 4;

/// A price that is usually above the cost, or strangely below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Margin {
    price: usize,
    cost: usize,
    is_one_free: bool,
    are_few: bool,
    /// The number of rows below cost among those compared, if they are too many for mistakes of single rows.
    many: Option<(usize, usize)>,
}

/// Returns the margin of the items of a sheet with price and cost, if some of them have none.
pub(super) fn margin(roles: &Roles, table: &Table) -> Option<Margin> {
    let (price, cost) = (roles.item_price(PRICE)?, roles.item_price("purchasePrice")?);
    let pairs = table.column(price)?.values.iter().zip(&table.column(cost)?.values);
    let pairs = pairs.filter_map(|(price, cost)| Some(((*price)?.value, (*cost)?.value)));
    // The only price of zero beside a cost is the result of a look-up that found nothing.
    let free = pairs.clone().filter(|(price, cost)| *price == 0.0 && *cost > 0.0).count();
    let compared = pairs.filter(|(price, cost)| *price > 0.0 && *cost > 0.0 && price != cost);
    let compared: Vec<(f64, f64)> = compared.collect();
    let (all, below) = (compared.len(), compared.iter().filter(|(price, cost)| price < cost).count());
    let are_exchanged = all >= FEWEST_EXCHANGED && below * 10 >= all * 9;
    let are_mixed = all >= FEWEST_MIXED && below * 4 > all;
    let are_few = all >= FEWEST && (1..=(all / 50).max(1)).contains(&below);
    let many = (are_exchanged || are_mixed).then_some((below, all));
    let may_be_exchanged = below * 20 <= all || below >= FEWEST_OF_BLOCK && below * 4 <= all;
    let are_few =
        are_few || all >= FEWEST && (may_be_exchanged && are_exchanges(&compared) || are_placeholders(&compared));
    let is_one_free = free == 1 && all >= FEWEST;
    let margin = Margin { price, cost, is_one_free, are_few, many };
    (margin.many.is_some() || are_few || is_one_free).then_some(margin)
}

/// Whether each price below its cost would be as many times the cost as the others are, were the two exchanged. Clearance sales are less below.
fn are_exchanges(compared: &[(f64, f64)]) -> bool {
    let mut margins: Vec<f64> =
        compared.iter().filter(|(price, cost)| price > cost).map(|(price, cost)| price / cost).collect();
    margins.sort_unstable_by(f64::total_cmp);
    let (Some(low), Some(high)) = (margins.get(margins.len() / 10), margins.get(margins.len() * 9 / 10)) else {
        return false;
    };
    let mut below = compared.iter().filter(|(price, cost)| price < cost);
    // Rounding to cents moves the ends a little.
    below.all(|(price, cost)| (*low * 0.95..=*high * 1.05).contains(&(cost / price)))
}

/// Whether the prices below their costs are one number, which no other row has.
fn are_placeholders(compared: &[(f64, f64)]) -> bool {
    let mut below = compared.iter().filter(|(price, cost)| price < cost).map(|(price, _)| *price);
    let Some(first) = below.next() else { return false };
    let same = compared.iter().filter(|(price, _)| *price == first).count();
    let others = below.clone().count() + 1;
    below.all(|price| price == first) && (2..=compared.len() / 10).contains(&others) && same == others
}

impl Margin {
    pub(super) fn judge(&self, roles: &Roles, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let (price, cost) = (numbers.number(self.price)?.value, numbers.number(self.cost)?.value);
        let is_odd =
            cost > 0.0 && price < cost && if price > 0.0 { self.are_few } else { self.is_one_free && price == 0.0 };
        if self.many.is_none() && !is_odd {
            return None;
        }
        let name = roles.name_of(self.cost);
        let (code, message, remedy) = match self.many {
            None => (
                Code::UnlikeOthers,
                format!("is below '{name}', {}, unlike the others", numbers.shown(self.cost)),
                "correct the cell that is wrong; if both are right, send the row with --accept unlike-others",
            ),
            Some((below, all)) => (
                Code::OtherMeaning,
                format!("is below '{name}' in {below} of {all} rows"),
                "exchange the columns in the template, or restore the file if a column was sorted alone; if all are right, \
                 use --accept other-meaning",
            ),
        };
        Some(Finding {
            code,
            remedy: remedy.to_owned(),
            ..Finding::unlike_others((self.price, PRICE), numbers.shown(self.price), message)
        })
    }
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::Row;

    use super::super::numbers::of_pairs;
    use super::*;
    use crate::roles::{Meaning, Quantity};

    /// Returns the prices that are below cost.
    fn below(pairs: &[(f64, f64)]) -> Vec<f64> {
        let money = |field| Quantity { field, meaning: Meaning::ItemPrice, is_fraction: false };
        let numbers = vec![(0, money("price")), (1, money("purchasePrice"))];
        let roles = Roles { numbers, names: vec!["Price".to_owned(), "Cost".to_owned()], ..Roles::default() };
        let (rows, notations, table) = of_pairs(pairs);
        let Some(margin) = margin(&roles, &table) else { return Vec::new() };
        let is_below = |row: &&Row| margin.judge(&roles, &notations.of_row(row)).is_some();
        rows.iter()
            .filter(is_below)
            .filter_map(|row| notations.of_row(row).number(0))
            .map(|price| price.value)
            .collect()
    }

    #[test]
    fn prices_below_cost_are_found_where_they_are_few_or_many() {
        let mut pairs: Vec<(f64, f64)> = (1..=24).map(|n| (f64::from(n) * 1.5 + 0.3, f64::from(n))).collect();
        assert_eq!(below(&pairs), [0.0; 0]);
        pairs[5].0 = 5.0;
        assert_eq!(below(&pairs), [5.0]);
        // Clearance sales: neither one nor many.
        (6..9).for_each(|at| pairs[at].0 = 1.0);
        assert_eq!(below(&pairs), [0.0; 0]);
        let exchanged: Vec<(f64, f64)> = pairs[..4].iter().map(|(price, cost)| (*cost, *price)).collect();
        assert_eq!(below(&exchanged).len(), 4);
        let costs = (1..=24).map(f64::from);
        let sorted_alone: Vec<(f64, f64)> =
            costs.clone().rev().zip(costs).map(|(price, cost)| (price * 1.5 + 0.3, cost)).collect();
        assert_eq!(below(&sorted_alone).len(), 24);
        // Free items, and equal prices, say nothing.
        let free: Vec<(f64, f64)> = (1..=24).map(|n| (if n % 2 == 0 { 0.0 } else { 5.0 }, 5.0)).collect();
        assert_eq!(below(&free), [0.0; 0]);
    }
}
