//! Cells that stand a row too low or too high, or were exchanged with those of the row beside: an item beside the description of the item
//! above. Where one value decides another, the rows that are at odds would be as all others with the value of a neighbouring row.

use sheetport_findings::Code;

use super::finding::OddRows;
use super::roles::Roles;
use super::runs::{improbable, median};
use super::sample::{Part, Sample, Texts};

/// Most texts that are compared with each other: those of mapped columns first.
const MAX_TEXTS: usize = 14;
/// Fewest rows that agree, and fewest rows that are displaced.
const FEWEST: usize = 20;
const FEWEST_DISPLACED: usize = 4;
/// The evidence of displaced rows, in powers of ten, that they agree with a neighbour by more than chance: an honest list of 300 lines has
/// rows that are at odds, of which a few repeat the value above.
const CERTAIN: f64 = 5.0;
/// Fewest rows in a row whose price is in proportion to the cost of the row above.
const FEWEST_AMOUNTS: usize = 8;
/// How many times as far as the median deviation a margin may be from the usual one, and from which deviation there is no usual one.
const NEAR: f64 = 3.0;
const UNSTEADY: f64 = 0.35;
/// Two rows exchange a value that few others have.
const EXCHANGED: f64 = 1.6;

/// Returns the rows of the two columns that tell most.
pub(super) fn shifted(roles: &Roles, sample: &Sample) -> Option<OddRows> {
    if sample.rows.len() < FEWEST {
        return None;
    }
    let is_amount = |column: usize| roles.numbers.iter().any(|(number, _)| *number == column);
    let repeated = sample.columns.iter().filter(|column| column.days.is_none()).flat_map(|column| {
        let repeated = column.texts.iter().filter(|texts| (3..=sample.rows.len() / 2).contains(&texts.different));
        repeated.map(|texts| (column.index, texts))
    });
    let repeated: Vec<(usize, &Texts)> = repeated.take(MAX_TEXTS).collect();
    let mut found: Option<OddRows> = None;
    for (from_column, from) in &repeated {
        for (to_column, to) in &repeated {
            // Numbers are decided, as the price by the item, but do not decide.
            let is_number = is_amount(*to_column) && to.part != Part::Whole;
            if from_column == to_column || is_amount(*from_column) || is_number {
                continue;
            }
            let Some(place) = roles.mapped_at(*to_column).or_else(|| roles.mapped_at(*from_column)) else { continue };
            let beside = if roles.mapped_at(*to_column).is_some() { *from_column } else { *to_column };
            let name = roles.name_of(beside);
            let odd = displaced(&from.ids, &to.ids).into_iter().filter_map(|at| Some(*sample.rows.get(at)?));
            let message =
                format!("belongs beside '{name}' of the row above or below: there, it would be as in the other rows");
            let rows = OddRows::new(Code::UnlikeOthers, place, odd.map(|row| (row, message.clone())).collect());
            if rows.len() > found.as_ref().map_or(0, OddRows::len) {
                found = Some(rows);
            }
        }
    }
    found
}

/// Returns the places at which `to` is not what `from` has decided elsewhere, but what it decides in a neighbouring row.
fn displaced(from: &[u16], to: &[u16]) -> Vec<usize> {
    let usual = usual(from, to);
    let says = |at: usize| from.get(at).and_then(|id| usual.get(usize::from(*id)).copied().flatten());
    let (mut agree, mut odd) = (0, Vec::new());
    for (at, value) in to.iter().enumerate().filter(|(_, value)| **value > 0) {
        match says(at) {
            Some(usual) if usual == *value => agree += 1,
            Some(_) => odd.push(at),
            None => {}
        }
    }
    if agree < FEWEST || odd.len() < 2 {
        return Vec::new();
    }
    let mut sorted = to.to_vec();
    sorted.sort_unstable();
    let commonest = sorted.chunk_by(|one, other| one == other).map(<[u16]>::len).max().unwrap_or(0);
    let of_row = (to.len() as f64 / commonest as f64).log10();
    let value = |at: usize| to.get(at).copied();
    let exchanged = odd
        .iter()
        .filter(|at| odd.contains(&(*at + 1)) && says(**at + 1) == value(**at) && says(**at) == value(**at + 1));
    let exchanged: Vec<usize> = exchanged.flat_map(|at| [*at, at + 1]).collect();
    if !exchanged.is_empty() && odd.len() <= (agree / 50).max(2) && 2.0 * of_row >= EXCHANGED {
        return exchanged;
    }
    let of_neighbour = |neighbour: &dyn Fn(usize) -> Option<usize>| -> Vec<usize> {
        let is_displaced = |at: &&usize| neighbour(**at).and_then(says) == value(**at);
        odd.iter().filter(is_displaced).copied().collect()
    };
    let (above, below) = (of_neighbour(&|at| at.checked_sub(1)), of_neighbour(&|at| Some(at + 1)));
    let rows = if above.len() >= below.len() { above } else { below };
    let span = rows.last().zip(rows.first()).map_or(0, |(last, first)| last - first);
    let is_block = rows.len() >= FEWEST_DISPLACED && span <= 4 * rows.len() && agree >= rows.len();
    if is_block && rows.len() * 10 >= odd.len() * 7 && rows.len() as f64 * of_row >= CERTAIN {
        // Between displaced cells, one that agrees with its own row does so by chance.
        rows.first().zip(rows.last()).map_or_else(Vec::new, |(first, last)| (*first..=*last).collect())
    } else {
        Vec::new()
    }
}

/// Returns the prices that are out of proportion to their costs, and in proportion to those of the row above or below.
pub(super) fn shifted_prices(roles: &Roles, sample: &Sample) -> Option<OddRows> {
    let amounts = |field: &str| {
        let index = roles.item_price(field)?;
        Some((index, sample.column(index)?.numbers.as_ref()?.as_slice()))
    };
    let ((column, prices), (cost, costs)) = (amounts("price")?, amounts("purchasePrice")?);
    let odd = displaced_amounts(prices, costs);
    let name = roles.name_of(cost);
    let message = format!("is in proportion to '{name}' of the row above or below, and not to that of its own row");
    let rows: Vec<_> = odd.into_iter().filter_map(|at| Some((*sample.rows.get(at)?, message.clone()))).collect();
    (!rows.is_empty()).then(|| OddRows::new(Code::UnlikeOthers, (column, "price"), rows))
}

fn displaced_amounts(prices: &[Option<f64>], costs: &[Option<f64>]) -> Vec<usize> {
    let ratio = |at: usize, beside: Option<usize>| {
        let pair = prices.get(at).copied().flatten().zip(costs.get(beside?).copied().flatten());
        pair.filter(|(price, cost)| *price > 0.0 && *cost > 0.0).map(|(price, cost)| (price / cost).ln())
    };
    let own: Vec<f64> = (0..prices.len()).filter_map(|at| ratio(at, Some(at))).collect();
    let Some(usual) = median(own.iter().copied()).filter(|_| own.len() >= FEWEST) else { return Vec::new() };
    let deviation = median(own.iter().map(|ratio| (ratio - usual).abs())).unwrap_or(f64::MAX);
    if deviation >= UNSTEADY {
        return Vec::new();
    }
    let is_near = |ratio: Option<f64>| ratio.is_some_and(|ratio| (ratio - usual).abs() <= NEAR * deviation);
    let of_neighbour = |neighbour: &dyn Fn(usize) -> Option<usize>| {
        let near: Vec<bool> = (0..prices.len()).map(|at| is_near(ratio(at, neighbour(at)))).collect();
        let run = improbable(&near, FEWEST_AMOUNTS)?;
        let rows = run.start..run.end - 1;
        let odd = rows.clone().filter(|at| !is_near(ratio(*at, Some(*at)))).count();
        (odd * 2 >= rows.len()).then(|| rows.collect())
    };
    of_neighbour(&|at| at.checked_sub(1)).or_else(|| of_neighbour(&|at| Some(at + 1))).unwrap_or_default()
}

/// Returns, by value of `from`, what usually stands beside it in `to`: twice at least, and more often than anything else.
fn usual(from: &[u16], to: &[u16]) -> Vec<Option<u16>> {
    let mut pairs: Vec<(u16, u16)> =
        from.iter().copied().zip(to.iter().copied()).filter(|(from, to)| *from > 0 && *to > 0).collect();
    pairs.sort_unstable();
    let mut usual = vec![(0_usize, None); from.iter().max().map_or(0, |most| usize::from(*most) + 1)];
    for run in pairs.chunk_by(|one, other| one == other) {
        let best = run.first().and_then(|(from, to)| Some((*to, usual.get_mut(usize::from(*from))?)));
        match (run.len(), best) {
            (count, Some((to, best))) if count > best.0 => *best = (count, Some(to).filter(|_| count > 1)),
            (count, Some((_, best))) if count == best.0 => best.1 = None,
            _ => {}
        }
    }
    usual.into_iter().map(|(_, to)| to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_in_proportion_to_the_cost_above_are_displaced() {
        let costs: Vec<Option<f64>> = (0..60_u32).map(|n| Some(f64::from(1 + n * n * 7 % 53))).collect();
        let margin = |n: usize| [1.4, 1.5, 1.7, 1.6][n % 4];
        let prices: Vec<Option<f64>> =
            costs.iter().enumerate().map(|(n, cost)| cost.map(|cost| cost * margin(n))).collect();
        assert!(displaced_amounts(&prices, &costs).is_empty());
        let mut lower = prices.clone();
        lower[21..41].copy_from_slice(&prices[20..40]);
        let found = displaced_amounts(&lower, &costs);
        assert!(found.len() > 12 && found.iter().all(|at| (19..41).contains(at)), "{found:?}");
    }

    #[test]
    fn values_of_the_row_above_are_displaced() {
        let items: Vec<u16> = (0..60_u16).map(|n| 1 + n * 7 % 11).collect();
        let names: Vec<u16> = items.iter().map(|item| 12 - item).collect();
        assert!(displaced(&items, &names).is_empty());
        let mut lower = names.clone();
        lower[21..36].copy_from_slice(&names[20..35]);
        assert_eq!(displaced(&items, &lower), (21..36).collect::<Vec<_>>());
        assert_eq!(displaced(&lower, &items), (21..35).collect::<Vec<_>>());
        let mut exchanged = names.clone();
        exchanged.swap(30, 31);
        assert_eq!(displaced(&items, &exchanged), [30, 31]);
        // Two wrong names, and columns that have nothing to do with each other.
        let mut wrong = names;
        (wrong[30], wrong[40]) = (wrong[33], wrong[44]);
        assert!(displaced(&items, &wrong).is_empty());
        let other: Vec<u16> = (0..60_u16).map(|n| 1 + n * n % 13).collect();
        assert!(displaced(&items, &other).is_empty());
    }
}
