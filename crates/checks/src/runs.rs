//! Runs of rows that nobody has typed: numbers and dates that count on, or stay, because a cell was dragged down; a column, or a part of it, that
//! was sorted without the others; amounts in cents between amounts in the currency.

use std::ops::Range;

use sheetport_findings::Code;

use super::features::Kind;
use super::finding::OddRows;
use super::roles::{Meaning, Quantity, Roles};
use super::sample::{Part, Sample, Texts};

/// Fewest numbers of a column.
const FEWEST: usize = 12;
/// Fewest steps of one by which numbers count on, and of rates of a tax, which never do.
const FEWEST_STEPS: usize = 4;
const FEWEST_OF_RATES: usize = 3;
/// The chance of the steps, by those of all other rows, from which they are no coincidence.
const CHANCE: f64 = 1e-3;
/// Fewest rows with the same unusual number, and the greatest share of other rows with it: campaigns sell by the same number.
const FEWEST_EQUAL: usize = 8;
const UNUSUAL: f64 = 0.1;
/// Fewest equal prices of different goods one below the other, in a list in which one price in so many repeats.
const FEWEST_EQUAL_PRICES: usize = 3;
const DISTINCT: usize = 20;
/// Fewest rows and different numbers of a column that was sorted, and fewest different ones of a sorted part.
const FEWEST_SORTED: usize = 20;
const FEWEST_SORTED_NUMBERS: usize = 5;
const FEWEST_OF_PART: usize = 12;
/// Fewest rows in cents, and how many times as large they are.
const FEWEST_IN_CENTS: usize = 5;
const TIMES: f64 = 20.0;

/// Fewest dates of a block that was pasted from another list, and the distance in days to those around it.
const FEWEST_PASTED: usize = 3;
const FAR_DAYS: f64 = 7.0;

const DRAGGED: &str = "counts on by a day in each row, and then goes back, as if a cell had been dragged down";
const PASTED: &str = "stands in a block of dates a week or more from those above and below, as if it had been pasted";

/// The numbers of a column with their places in the sample.
struct Numbers<'a> {
    values: Vec<(usize, f64)>,
    sample: &'a Sample,
    /// The texts that tell the goods of the rows.
    goods: Option<&'a Texts>,
    /// Whether each row is an item of a price list, in which variants have the same price or one that grows with their size.
    is_price_list: bool,
}

/// Returns the rows of each column that were dragged, sorted or converted alone.
pub(super) fn runs(roles: &Roles, sample: &Sample) -> Vec<OddRows> {
    let is_price_list = roles.group.is_empty() && roles.dates.is_empty();
    let is_goods = |column: usize| !roles.group.contains(&column) && !roles.keys.contains(&column);
    let mut formed = roles.formed.iter().rev();
    let goods = match is_price_list {
        true => formed.find(|it| it.kind == Kind::Name).and_then(|it| sample.column(it.column)?.texts(Part::FirstWord)),
        false => formed.find(|it| is_goods(it.column)).and_then(|it| sample.column(it.column)?.texts(Part::Whole)),
    };
    let of_number = |(index, quantity): &(usize, Quantity)| {
        let numbers = sample.column(*index)?.numbers.as_ref()?;
        let values: Vec<(usize, f64)> =
            numbers.iter().enumerate().filter_map(|(place, number)| Some((place, (*number)?))).collect();
        let numbers = Numbers { values, sample, goods, is_price_list };
        let (range, message) = numbers.run(quantity.meaning, || is_in_order(roles, sample))?;
        let rows = numbers.values.get(range)?.iter().filter_map(|(place, _)| sample.rows.get(*place));
        let rows = rows.map(|row| (*row, message.to_owned())).collect();
        Some(OddRows::new(Code::UnlikeOthers, (*index, quantity.field), rows))
    };
    let of_dates = |(index, field): &(usize, &'static str)| {
        let days = sample.column(*index)?.days.as_ref()?;
        let runs = [0, 1].map(|reading| {
            let days =
                days.iter().enumerate().filter_map(|(place, days)| Some((place, f64::from(days.as_ref()?[reading]))));
            let (places, days): (Vec<usize>, Vec<f64>) = days.unzip();
            let dragged = dragged_dates(&days).map(|range| (range, DRAGGED));
            let (range, message) = dragged.or_else(|| Some((pasted_dates(&days)?, PASTED)))?;
            Some((places.get(range)?.to_vec(), message))
        });
        // Of dates with two readings, both are in the wrong place.
        let [Some((places, message)), Some(_)] = runs else { return None };
        let rows = places.into_iter().filter_map(|place| Some((*sample.rows.get(place)?, message.to_owned())));
        Some(OddRows::new(Code::ImplausibleDate, (*index, *field), rows.collect()))
    };
    roles.numbers.iter().filter_map(of_number).chain(roles.dates.iter().filter_map(of_dates)).collect()
}

impl Numbers<'_> {
    fn run(&self, meaning: Meaning, is_in_order: impl Fn() -> bool) -> Option<(Range<usize>, &'static str)> {
        let all: Vec<f64> = self.values.iter().map(|(_, value)| *value).collect();
        if all.len() < FEWEST || meaning == Meaning::Other {
            return None;
        }
        let fewest = if meaning == Meaning::TaxRate { FEWEST_OF_RATES } else { FEWEST_STEPS };
        let steps: Vec<bool> = all.windows(2).map(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9).collect();
        let counted =
            improbable(&steps, fewest).filter(|range| self.are_different(range) || meaning == Meaning::TaxRate);
        if let Some(range) = counted {
            return Some((
                range,
                "counts on by one in each row, unlike the others, as if a cell had been dragged down",
            ));
        }
        if meaning == Meaning::TaxRate {
            return None;
        }
        if let Some(range) = self.equal(&all) {
            return Some((
                range,
                "is the same in many rows, and in hardly any others, as if a cell had been dragged down",
            ));
        }
        if meaning != Meaning::Count
            && let Some(range) = in_cents(&all)
        {
            return Some((range, "has no decimals and is far larger than the others, as amounts in cents are"));
        }
        self.sorted(&all, is_in_order)
            .map(|range| (range, "is in order of its size in many rows that are in no such order otherwise, as if it had been sorted alone"))
    }

    /// Whether rows are of different goods, and of different records if there are any.
    fn are_different(&self, range: &Range<usize>) -> bool {
        let places = || self.values.get(range.clone()).unwrap_or_default().iter().map(|(place, _)| *place);
        let of_goods = self.goods.map(|goods| {
            let ids: Vec<u16> = places().filter_map(|place| goods.ids.get(place).copied()).collect();
            ids.chunk_by(|one, other| one == other).count() * 2 >= range.len()
        });
        of_goods.unwrap_or(!self.is_price_list) && self.sample.records_of(places()) >= 3
    }

    /// Returns the rows with the same number that hardly any other row has.
    fn equal(&self, all: &[f64]) -> Option<Range<usize>> {
        let range = longest(&all.windows(2).map(|pair| pair[0] == pair[1]).collect::<Vec<_>>())?;
        let value = *all.get(range.start)?;
        let others = all.len() - range.len();
        let same = all.iter().filter(|other| **other == value).count() - range.len();
        let is_unusual = (same as f64) <= UNUSUAL * others as f64 && others >= range.len();
        let fewest = if self.is_price_list { FEWEST_EQUAL_PRICES } else { FEWEST_EQUAL };
        let is_alone = || {
            value > 0.0 && same == 0 && others >= FEWEST_SORTED && repeated(all) <= range.len() - 1 + others / DISTINCT
        };
        let is_odd = range.len() >= fewest && is_unusual && (!self.is_price_list || is_alone());
        (is_odd && self.are_different(&range)).then_some(range)
    }

    /// Returns the rows of a column that is in order although the sheet has another one, or of the only part of it that is in order.
    fn sorted(&self, all: &[f64], is_in_order: impl Fn() -> bool) -> Option<Range<usize>> {
        [1.0, -1.0].into_iter().find_map(|sign| {
            let ascends: Vec<bool> = all.windows(2).map(|pair| sign * pair[0] <= sign * pair[1]).collect();
            let range = longest(&ascends)?;
            let different = all.get(range.clone())?.chunk_by(|one, other| one == other).count();
            if range.len() == all.len() {
                let is_sorted = all.len() >= FEWEST_SORTED && different >= FEWEST_SORTED_NUMBERS && !self.is_price_list;
                return (is_sorted && is_in_order()).then_some(range);
            }
            let others = ascends.len() - (range.len() - 1);
            let back = ascends.iter().filter(|ascends| !**ascends).count();
            let is_part = different >= FEWEST_OF_PART && others >= FEWEST_SORTED && back * 4 >= others;
            (is_part && self.are_different(&range)).then_some(range)
        })
    }
}

/// Whether the rows are in order of a date, or the rows of each of many records stand together.
fn is_in_order(roles: &Roles, sample: &Sample) -> bool {
    let is_dated = |(index, _): &(usize, &'static str)| {
        let days = sample.column(*index).and_then(|column| column.days.as_ref());
        let days: Vec<i32> = days.into_iter().flatten().flatten().map(|days| days[0]).collect();
        let is_sorted = days.is_sorted() || days.iter().rev().is_sorted();
        is_sorted && days.chunk_by(|one, other| one == other).count() >= FEWEST_SORTED_NUMBERS
    };
    let stays = sample.records.chunk_by(|one, other| one == other);
    let (together, several) =
        stays.fold((0, 0), |(all, several), rows| (all + 1, several + usize::from(rows.len() > 1)));
    let are_together = several >= FEWEST_SORTED_NUMBERS && sample.records_of(0..sample.records.len()) == together;
    !roles.group.is_empty() && are_together || roles.dates.iter().any(is_dated)
}

/// Returns the longest run of rows between which the steps are true.
fn longest(steps: &[bool]) -> Option<Range<usize>> {
    let mut best = 0..0;
    let mut start = 0;
    for (at, step) in steps.iter().enumerate() {
        if !step {
            start = at + 1;
        } else if at + 2 - start > best.len() {
            best = start..at + 2;
        }
    }
    (best.len() > 1).then_some(best)
}

/// Returns how many numbers stand there already.
fn repeated(all: &[f64]) -> usize {
    let mut sorted = all.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Returns the longest run, if it is too long for how often the steps are true elsewhere.
pub(super) fn improbable(steps: &[bool], fewest: usize) -> Option<Range<usize>> {
    let range = longest(steps)?;
    let of_run = range.len() - 1;
    let others = steps.len() - of_run;
    let elsewhere = steps.iter().filter(|step| **step).count() - of_run;
    let share = (elsewhere + 1) as f64 / others.max(1) as f64;
    let chance = steps.len() as f64 * share.powi(i32::try_from(of_run).unwrap_or(i32::MAX));
    (of_run >= fewest && others > of_run && chance < CHANCE).then_some(range)
}

/// Returns the rows without decimals that are many times as large as all others, which have some.
fn in_cents(all: &[f64]) -> Option<Range<usize>> {
    let is_whole = |value: &f64| value.fract() == 0.0;
    let range = longest(&all.windows(2).map(|pair| pair.iter().all(is_whole)).collect::<Vec<_>>())?;
    let of_run = all.get(range.clone())?;
    let others = || all.get(..range.start).into_iter().chain(all.get(range.end..)).flatten().copied();
    let whole = others().filter(is_whole).count();
    let is_alone = whole * 10 <= others().count() && others().count() >= range.len() && range.len() >= FEWEST_IN_CENTS;
    let is_larger = median(of_run.iter().copied())? >= TIMES * median(others())?;
    (is_alone && is_larger).then_some(range)
}

/// Returns the upper one of two values in the middle.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns the dates that count on by a day in a list in order of the dates, and break this order.
fn dragged_dates(days: &[f64]) -> Option<Range<usize>> {
    let steps: Vec<f64> = days.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let by_day: Vec<bool> = steps.iter().map(|step| *step == 1.0).collect();
    let range = longest(&by_day).filter(|range| range.len() > FEWEST_STEPS + 1)?;
    let is_back = |at: Option<usize>| at.and_then(|at| steps.get(at)).is_some_and(|step| *step < 0.0);
    let back = steps.iter().filter(|step| **step < 0.0).count();
    let breaks = usize::from(is_back(range.start.checked_sub(1))) + usize::from(is_back(Some(range.end - 1)));
    (days.len() >= FEWEST_SORTED && breaks > 0 && (back - breaks) * 20 <= days.len()).then_some(range)
}

/// Returns the block of dates that are a week or more before or after those around it, in a list in order of the dates.
fn pasted_dates(days: &[f64]) -> Option<Range<usize>> {
    let back: Vec<usize> =
        days.windows(2).enumerate().filter(|(_, pair)| pair[1] < pair[0]).map(|(at, _)| at + 1).collect();
    let ([at], true) = (back.as_slice(), days.len() >= FEWEST_SORTED) else { return None };
    let (before, after) = days.split_at_checked(*at)?;
    let (last, first) = (*before.last()?, *after.first()?);
    // The list goes on where it was before the block.
    let earlier = after.iter().position(|day| *day >= last).map(|end| *at..*at + end);
    let later = before.iter().rposition(|day| *day <= first).map(|start| start + 1..*at);
    let is_far = |block: &Range<usize>| {
        let (start, end) = (days.get(block.start.wrapping_sub(1)), days.get(block.end));
        let is_block = (FEWEST_PASTED..=days.len() / 5).contains(&block.len());
        let edges = days.get(block.clone()).and_then(|block| Some((*block.first()?, *block.last()?)));
        is_block
            && start.zip(end).zip(edges).is_some_and(|((start, end), (first, last))| {
                end - start < FAR_DAYS && (start - last >= FAR_DAYS || first - end >= FAR_DAYS)
            })
    };
    [earlier, later].into_iter().flatten().find(is_far)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the places of a column of orders, of one line each, that are a run.
    fn found(values: &[f64], meaning: Meaning) -> Range<usize> {
        let rows: Vec<u64> = (0..values.len() as u64).collect();
        let sample = Sample { records: rows.clone(), rows, columns: Vec::new() };
        let values = values.iter().copied().enumerate().collect();
        let numbers = Numbers { values, sample: &sample, goods: None, is_price_list: false };
        numbers.run(meaning, || true).map_or(0..0, |(range, _)| range)
    }

    #[test]
    fn numbers_that_were_dragged_or_sorted_alone_are_found() {
        let mixed: Vec<f64> = (0..60_u32).map(|n| f64::from(1 + n * n * 7 % 23) + 0.5).collect();
        let with = |at: usize, values: &[f64]| {
            let mut all = mixed.clone();
            all[at..at + values.len()].copy_from_slice(values);
            all
        };
        let prices = |values: &[f64]| found(values, Meaning::UnitPrice);
        assert_eq!(prices(&mixed), 0..0);
        assert_eq!(prices(&with(20, &[4.5, 5.5, 6.5, 7.5, 8.5, 9.5])), 20..26);
        assert_eq!(prices(&with(20, &[4.5, 5.5, 6.5])), 0..0);
        assert_eq!(prices(&with(20, &[71.5; 9])), 20..29);
        assert_eq!(prices(&with(20, &[1250.0, 990.0, 1890.0, 450.0, 2210.0])), 20..25);
        let part: Vec<f64> = (0..16).map(|n| 2.25 * f64::from(n)).collect();
        assert_eq!(prices(&with(20, &part)).len(), 16);
        let mut sorted = mixed.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        assert_eq!(prices(&sorted), 0..60);
        let rates = |odd: &[f64]| found(&[&[20.0; 30][..], odd, &[20.0; 30]].concat(), Meaning::TaxRate);
        assert_eq!(rates(&[21.0, 22.0, 23.0]), 29..33);
        assert_eq!(rates(&[10.0, 10.0, 10.0]), 0..0);
    }

    #[test]
    fn dates_that_count_on_and_go_back_or_stand_in_a_block_are_found() {
        let days = |days: &[i32]| days.iter().map(|day| f64::from(*day)).collect::<Vec<_>>();
        let list: Vec<i32> = (0..24).map(|n| 100 + n / 3).collect();
        assert_eq!(dragged_dates(&days(&list)), None);
        let mut dragged = list.clone();
        (0..8).for_each(|n| dragged[9 + usize::try_from(n).unwrap_or(0)] = 103 + n);
        assert_eq!(dragged_dates(&days(&dragged)), Some(8..17));
        assert_eq!(dragged_dates(&days(&(0..24).collect::<Vec<_>>())), None);
        let with = |block: &[i32]| pasted_dates(&days(&[&list[..12], block, &list[12..]].concat()));
        assert_eq!(with(&[80, 81, 83]), Some(12..15));
        assert_eq!(with(&[120, 121, 123]), Some(12..15));
        assert_eq!(with(&[100, 101, 102]), None);
        // Two lists, one below the other.
        assert_eq!(pasted_dates(&days(&[&list[..], &list].concat())), None);
    }
}
