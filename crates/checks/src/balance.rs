//! A running balance: each row has that of the row above, or of the last row of the same stock, and the units that were moved. A row in which it
//! is not so has another number of units.

use std::collections::HashMap;

use sheetport_findings::Code;

use super::finding::OddRows;
use super::roles::{Meaning, Roles};
use super::sample::{Part, Sample};

/// Fewest rows that follow from the row before, and fewest different numbers of units: one in four small numbers fits by chance.
const FEWEST: usize = 12;
const FEWEST_UNITS: usize = 4;

/// Returns the rows whose units contradict a balance.
pub(super) fn balance(roles: &Roles, sample: &Sample) -> Option<OddRows> {
    let (column, quantity) = roles.numbers.iter().find(|(_, it)| it.meaning == Meaning::Count)?;
    let units = sample.column(*column)?.numbers.as_ref()?;
    let stock = roles.formed.iter().find(|it| !roles.keys.contains(&it.column));
    let stock = stock.and_then(|it| sample.column(it.column)?.texts(Part::Whole)).map(|texts| texts.ids.as_slice());
    roles.unmapped.iter().find_map(|unmapped| {
        let balances = sample.column(*unmapped)?.numbers.as_ref()?;
        let odd =
            [stock, None].into_iter().find_map(|stock| odd(units, balances, stock)).filter(|odd| !odd.is_empty())?;
        let name = roles.name_of(*unmapped);
        let message = |(at, moved): (usize, f64)| {
            Some((
                *sample.rows.get(at)?,
                format!("does not fit to '{name}', which has changed by {moved} since the row before"),
            ))
        };
        Some(OddRows::new(Code::DoesNotAddUp, (*column, quantity.field), odd.into_iter().filter_map(message).collect()))
    })
}

/// Returns the places at which the balance has not moved by the units of the row, each with how far it has. `None` if there is no balance.
fn odd(units: &[Option<f64>], balances: &[Option<f64>], stock: Option<&[u16]>) -> Option<Vec<(usize, f64)>> {
    let mut last: HashMap<u16, f64> = HashMap::new();
    let (mut moved, mut odd) = (Vec::new(), Vec::new());
    for (at, (units, balance)) in units.iter().zip(balances).enumerate() {
        let Some((units, balance)) = units.zip(*balance) else { continue };
        let stock = stock.map_or(0, |ids| ids.get(at).copied().unwrap_or_default());
        let Some(before) = last.insert(stock, balance) else { continue };
        let change = (balance - before).abs();
        if (change - units.abs()).abs() < 1e-6 {
            moved.push(units.abs());
        } else {
            odd.push((at, change));
        }
    }
    moved.sort_unstable_by(f64::total_cmp);
    let different = moved.chunk_by(|one, other| one == other).count();
    let is_balance = moved.len() >= FEWEST && different >= FEWEST_UNITS;
    (is_balance && odd.len() <= (moved.len() / 20).max(1)).then_some(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_contradict_the_balance_are_found() {
        let units: Vec<Option<f64>> = (0..30_u32).map(|n| Some(f64::from(1 + n * 7 % 12))).collect();
        let mut balance = 400.0;
        let balances: Vec<Option<f64>> = (units.iter().flatten())
            .zip([-1.0, 1.0, -1.0].into_iter().cycle())
            .map(|(units, sign)| {
                balance += sign * units;
                Some(balance)
            })
            .collect();
        assert_eq!(odd(&units, &balances, None), Some(Vec::new()));
        let mut wrong = units.clone();
        wrong[12] = Some(40.0);
        assert_eq!(odd(&wrong, &balances, None).map(|odd| odd.len()), Some(1));
        // A column that has nothing to do with the units.
        assert_eq!(odd(&units, &units, None), None);
    }
}
