//! Sizes of numbers: prices in a steady proportion to the amounts of money beside them, and numbers many times as large as all others of
//! their column.

use sheetport_findings::Code;

use super::numbers::{Column, Exact, RowNumbers, Table};
use crate::finding::Finding;
use crate::roles::{Meaning, Quantity, Roles};

/// Fewest rows with both amounts. Proportions of fewer are steady by chance.
const FEWEST_PAIRS: usize = 10;
/// Greatest median deviation of a steady proportion, as a natural logarithm: half of the rows are within a quarter. In 72 lists of other
/// people, only numbers that are no money were as steady by chance.
const STEADY: f64 = 0.25;
/// How much steadier a proportion is than the amounts, or it says nothing.
const STEADIER: f64 = 0.5;
/// Proportions up to four times as large or small are special prices: a list of other people has offcuts for nearly three times the usual
/// margin.
const SPECIAL: f64 = 2.0 * std::f64::consts::LN_2;
/// Median deviations from which a proportion is odd.
const DEVIATIONS: f64 = 8.0;
/// How near a power of ten the proportion of rows is, in powers of ten, of which so many at least are of another unit. Margins differ by less.
const NEAR_POWER: f64 = 0.15;
const FEWEST_OF_POWER: usize = 4;
/// Fewest numbers by which one of them is too large.
const FEWEST_NUMBERS: usize = 8;
/// A number so many times as large as the next one, and as the median, is a barcode, a lost separator or another unit: one of 127 files of
/// other people has an honest one, and a café's list has the hire of its rooms. So a price is only warned of.
const TIMES_NEXT: f64 = 20.0;
const TIMES_MEDIAN: f64 = 100.0;

/// A price and an amount of money that nearly all rows have in the same proportion.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proportion {
    pub(super) column: usize,
    field: &'static str,
    other: usize,
    /// The price as a multiple of the amount.
    factor: f64,
    /// Greatest usual deviation of the factor, as a natural logarithm; `None` if the price is the rounded multiple.
    deviation: Option<f64>,
}

/// A bound that all numbers of a column but a few are far below.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    column: usize,
    field: &'static str,
    bound: f64,
    /// A number for *unknown* that is far below all others.
    least: Option<f64>,
    is_price: bool,
}

/// A price that stands for an unknown one is a power of ten below all others: this part of the next larger one, in at most one row of ten.
const BELOW: f64 = 20.0;

/// Returns the steady proportions of prices to other amounts of money.
pub(super) fn proportions(roles: &Roles, table: &Table) -> Vec<Proportion> {
    let is_price = |quantity: &Quantity| matches!(quantity.meaning, Meaning::UnitPrice | Meaning::ItemPrice);
    let prices = roles.numbers.iter().filter(|(_, quantity)| is_price(quantity));
    let mut found: Vec<Proportion> = Vec::new();
    for (index, quantity) in prices {
        let Some(price) = table.column(*index) else { continue };
        let is_known = |other: usize| found.iter().any(|known| known.column == other && known.other == *index);
        let is_money = |other: &Column| match roles.numbers.iter().find(|(known, _)| *known == other.index) {
            Some((known, quantity)) => known != index && is_price(quantity) && !is_known(*known),
            None => has_cents(other),
        };
        let steady = table.columns.iter().filter(|other| is_money(other));
        let steady: Vec<Proportion> = steady.filter_map(|other| Proportion::of(quantity.field, price, other)).collect();
        found.extend(steady);
    }
    found
}

/// Whether most numbers of a column have decimals, as amounts of money have.
fn has_cents(column: &Column) -> bool {
    let numbers = column.values.iter().flatten();
    let (all, with) = numbers.fold((0, 0), |(all, with), number| (all + 1, with + usize::from(number.decimals > 0)));
    with * 2 > all
}

/// Returns the bounds of columns with a few numbers that are far above all others.
pub(super) fn bounds(roles: &Roles, table: &Table) -> Vec<Bound> {
    let is_judged = |quantity: &Quantity| quantity.meaning != Meaning::TaxRate;
    let of_column = |(index, quantity): &(usize, Quantity)| {
        let column = table.column(*index)?;
        let mut sizes: Vec<f64> = column.values.iter().flatten().map(|number| number.value.abs()).collect();
        sizes.retain(|size| *size > 0.0);
        if sizes.len() < FEWEST_NUMBERS {
            return None;
        }
        sizes.sort_unstable_by(|left, right| right.total_cmp(left));
        let few = (sizes.len() / 100).max(1);
        let is_price = quantity.meaning != Meaning::Count;
        let times = if is_nines(sizes[0]) { 0.0 } else { TIMES_MEDIAN };
        let bound = (sizes[few] * TIMES_NEXT).max(sizes[sizes.len() / 2] * times);
        let smallest = sizes[sizes.len() - 1];
        let next = sizes.iter().rev().enumerate().find(|(_, size)| **size > smallest);
        let is_least = |(count, next): (usize, &f64)| count * 10 <= sizes.len() && *next >= BELOW * smallest;
        let is_power = smallest.log10().fract().abs() < 1e-12;
        let least = Some(smallest).filter(|_| is_price && is_power && next.is_some_and(is_least));
        let found = Bound { column: *index, field: quantity.field, bound, least, is_price };
        (sizes[0] >= bound || least.is_some()).then_some(found)
    };
    roles.numbers.iter().filter(|(_, quantity)| is_judged(quantity)).filter_map(of_column).collect()
}

impl Proportion {
    fn of(field: &'static str, price: &Column, other: &Column) -> Option<Proportion> {
        let pairs: Vec<(Exact, Exact)> = price
            .values
            .iter()
            .zip(&other.values)
            .filter_map(|(price, other)| Some(((*price)?, (*other)?)))
            .filter(|(price, other)| price.value > 0.0 && other.value > 0.0)
            .collect();
        if pairs.len() < FEWEST_PAIRS {
            return None;
        }
        let mut logs: Vec<f64> = pairs.iter().map(|(price, other)| (price.value / other.value).ln()).collect();
        let (log, steadiness) = center(&mut logs);
        let mut sizes: Vec<f64> = pairs.iter().map(|(price, _)| price.value.ln()).collect();
        let (_, spread) = center(&mut sizes);
        // Equal columns are one twice.
        if steadiness >= STEADY || steadiness >= spread * STEADIER || log == 0.0 {
            return None;
        }
        let place =
            |factor, deviation| Proportion { column: price.index, field, other: other.index, factor, deviation };
        let factor = exact_factor(&pairs, log.exp());
        let exact = place(factor, None);
        let count =
            |proportion: &Proportion| pairs.iter().filter(|(price, other)| proportion.holds(*price, *other)).count();
        if count(&exact) * 10 >= pairs.len() * 9 {
            return Some(exact);
        }
        let usual = place(log.exp(), Some((steadiness * DEVIATIONS).max(SPECIAL)));
        let few = (pairs.len() / 20).max(1);
        let odd: Vec<&(Exact, Exact)> = pairs.iter().filter(|(price, other)| !usual.holds(*price, *other)).collect();
        // Many may be in cents, or prices of a hundred.
        let power = |(price, other): &(Exact, Exact)| {
            let log = (price.value / other.value / usual.factor).log10();
            Some(log.round()).filter(|power| (log - power).abs() <= NEAR_POWER)
        };
        let first = odd.first().and_then(|pair| power(pair));
        let are_some = odd.len() >= FEWEST_OF_POWER && odd.len() * 4 <= pairs.len();
        let are_one_power = are_some && first.is_some() && odd.iter().all(|pair| power(pair) == first);
        (odd.len() <= few || are_one_power).then_some(usual)
    }

    fn holds(&self, price: Exact, other: Exact) -> bool {
        match self.deviation {
            Some(deviation) => (price.value / other.value / self.factor).ln().abs() <= deviation,
            None => {
                let half = |number: Exact| 0.5 * 10f64.powi(-i32::try_from(number.decimals).unwrap_or(0));
                // Cents are rounded even if the price is written without any.
                let rounding = half(price).min(0.05) + half(other).min(0.005) * self.factor;
                (price.value - self.factor * other.value).abs() <= rounding.mul_add(1.0001, 1e-9 * price.value)
            }
        }
    }

    pub(super) fn judge(&self, roles: &Roles, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let (price, other) = (numbers.number(self.column)?, numbers.number(self.other)?);
        if price.value <= 0.0 || other.value <= 0.0 || self.holds(price, other) {
            return None;
        }
        let (name, beside) = (roles.name_of(self.other), numbers.shown(self.other));
        let times = |factor: f64| format!("{}", (factor * 1e4).round() / 1e4);
        let (code, message, remedy) = match self.deviation {
            None => {
                let decimals = usize::try_from(price.decimals.max(2)).unwrap_or(2);
                let expected = format!("{:.decimals$}", self.factor * other.value);
                let calculation = format!("{} × {beside} = {expected}", times(self.factor));
                let header = roles.name_of(self.column);
                (
                    Code::DoesNotAddUp,
                    "does not add up, unlike in the other rows".to_owned(),
                    format!(
                        "{calculation}, but '{header}' has {}: correct the cell that is wrong",
                        numbers.shown(self.column)
                    ),
                )
            }
            Some(_) => (
                Code::UnlikeOthers,
                format!(
                    "is out of proportion to '{name}', {beside}: the others are about {:.1} times as much",
                    self.factor
                ),
                "correct the cell that is wrong; if both are right, send the row with --accept unlike-others"
                    .to_owned(),
            ),
        };
        Some(Finding {
            code,
            remedy,
            ..Finding::unlike_others((self.column, self.field), numbers.shown(self.column), message)
        })
    }
}

impl Bound {
    pub(super) fn judge(&self, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let number = numbers.number(self.column)?;
        let is_least = self.least == Some(number.value.abs());
        let is_unknown = is_least || !self.is_price || stands_for_another(number);
        (is_least || number.value.abs() >= self.bound).then(|| Finding {
            remedy: match is_unknown {
                true => "correct it; if it is right, send the row with --accept unlike-others".to_owned(),
                false => "it is sent as it is; correct it if it is wrong".to_owned(),
            },
            is_warning: !is_unknown,
            ..Finding::unlike_others(
                (self.column, self.field),
                numbers.shown(self.column),
                match is_least {
                    true => {
                        "is far below all others of the column, and may stand for a price that is not known".to_owned()
                    }
                    false => "is many times as large as all others of the column".to_owned(),
                },
            )
        })
    }
}

/// Whether a number that is far too large is one for *unknown*, such as 9999.99, or the number of a day since 1900, which a date has become.
fn stands_for_another(number: Exact) -> bool {
    const DAYS: std::ops::Range<f64> = 36_526.0..54_789.0;
    number.value >= 9999.0 && is_nines(number.value) || number.value.fract() == 0.0 && DAYS.contains(&number.value)
}

/// Whether all digits of a number are nines, as of 999 and 9999.99.
fn is_nines(value: f64) -> bool {
    let is_whole = |value: f64| (value + 1.0).log10().fract() < 1e-12;
    value >= 999.0 && (is_whole(value) || is_whole((value * 100.0).round()))
}

/// Returns the median and the median deviation from it.
fn center(values: &mut [f64]) -> (f64, f64) {
    let median = |values: &mut [f64]| {
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let center = median(values);
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    (center, median(&mut deviations))
}

/// Returns the factor of the largest amounts near `usual`, which rounding changes least, with four decimals if they are enough.
fn exact_factor(pairs: &[(Exact, Exact)], usual: f64) -> f64 {
    let near = pairs.iter().filter(|(price, other)| (price.value / other.value / usual).ln().abs() < 0.02);
    let largest = near.max_by(|(_, left), (_, right)| left.value.total_cmp(&right.value));
    let factor = largest.map_or(usual, |(price, other)| price.value / other.value);
    let error = largest.map_or(0.0, |(_, other)| 0.01 / other.value);
    let rounded = |digits: f64| (factor * digits).round() / digits;
    // As people calculate: by 1.19, or by 1.655.
    [1.0, 10.0, 100.0, 1e3, 1e4]
        .map(rounded)
        .into_iter()
        .find(|round| (round - factor).abs() <= error)
        .unwrap_or(factor)
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::Row;

    use super::super::numbers::of_pairs;
    use super::*;

    /// Returns the prices that are out of proportion to the costs beside them, and those that are too large.
    fn found(pairs: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
        let money = |field| Quantity { field, meaning: Meaning::ItemPrice, is_fraction: false };
        let numbers = vec![(0, money("price")), (1, money("purchasePrice"))];
        let names = vec!["Price".to_owned(), "Cost".to_owned()];
        let roles = Roles { are_judged: true, numbers, names, ..Roles::default() };
        let (rows, notations, table) = of_pairs(pairs);
        let (proportions, bounds) = (proportions(&roles, &table), bounds(&roles, &table));
        let odd = |row: &&Row| proportions.iter().any(|it| it.judge(&roles, &notations.of_row(row)).is_some());
        let large = |row: &&Row| bounds.iter().any(|it| it.judge(&notations.of_row(row)).is_some());
        let price = |row: &Row| notations.of_row(row).number(0).map_or(0.0, |number| number.value);
        (rows.iter().filter(odd).map(price).collect(), rows.iter().filter(large).map(price).collect())
    }

    const COSTS: [f64; 12] = [1.2, 4.5, 0.85, 12.0, 33.4, 2.15, 7.9, 18.25, 5.05, 61.0, 3.3, 9.95];

    fn cents(amount: f64) -> f64 {
        (amount * 100.0).round() / 100.0
    }

    #[test]
    fn a_price_that_is_no_multiple_of_its_cost_is_found_where_the_others_are() {
        let mut pairs: Vec<(f64, f64)> = COSTS.iter().map(|cost| (cents(cost * 1.65), *cost)).collect();
        assert_eq!(found(&pairs), (vec![], vec![]));
        pairs[4].0 = 60.0;
        assert_eq!(found(&pairs), (vec![60.0], vec![]));
    }

    #[test]
    fn a_price_far_from_the_usual_margin_is_found() {
        let margins = [1.4, 1.6, 1.5, 1.8, 1.55, 1.7, 1.45, 1.5, 1.65, 1.6, 1.75, 1.5];
        let mut pairs: Vec<(f64, f64)> =
            COSTS.iter().zip(margins).map(|(cost, margin)| (cents(cost * margin), *cost)).collect();
        assert_eq!(found(&pairs).0, [0.0; 0]);
        // A special price.
        for special in [11.0, 45.0] {
            pairs[3].0 = special;
            assert_eq!(found(&pairs).0, [0.0; 0]);
        }
        pairs[3].0 = 180.0;
        assert_eq!(found(&pairs).0, [180.0]);
    }

    #[test]
    fn amounts_without_a_steady_proportion_are_not_compared() {
        let pairs: Vec<(f64, f64)> =
            COSTS.iter().zip(COSTS.iter().rev()).map(|(price, cost)| (*price, *cost)).collect();
        assert_eq!(found(&pairs).0, [0.0; 0]);
        // Similar prices are in proportion to any constant.
        let same: Vec<(f64, f64)> = (0..12).map(|n| (10.0 + f64::from(n) / 10.0, 4.5)).chain([(25.0, 4.5)]).collect();
        assert_eq!(found(&same).0, [0.0; 0]);
    }

    #[test]
    fn a_number_many_times_as_large_as_all_others_is_found() {
        let mut pairs: Vec<(f64, f64)> = COSTS.iter().map(|cost| (*cost, 0.0)).collect();
        pairs[0].0 = 1_000.0;
        assert_eq!(found(&pairs).1, [0.0; 0], "sixteen times the next");
        pairs[0].0 = 4_006_381_333_931.0;
        assert_eq!(found(&pairs).1, [4_006_381_333_931.0]);
        let stands = |value| stands_for_another(Exact { value, decimals: 2, digits: 6 });
        assert!([9999.0, 9999.99, 99_999.0, 45_058.0].into_iter().all(stands));
        assert!(![9998.0, 12_500.0, 99.99, 45_058.5].into_iter().any(stands));
    }
}
