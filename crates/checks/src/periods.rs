//! Two dates of a row: an invoice is due after it was written, and goods are shipped after they were ordered. A row in which it is the other
//! way round, or a year later than in all others, has a mistyped date.

use sheetport_findings::Code;

use super::finding::OddRows;
use super::roles::Roles;
use super::sample::{Column, Sample};
use super::sequence::shown;

/// Fewest rows with both dates, by chance in the same order once in a thousand lists.
const FEWEST: usize = 12;
/// Most columns of dates that are compared.
const MAX_COLUMNS: usize = 6;
/// Periods up to so many days are terms and deliveries, of which none is nearly a year longer than all others. Contracts run for years.
const SHORT_DAYS: i32 = 180;
const YEAR_DAYS: i32 = 300;

/// Returns the rows whose dates are in another order than those of all others, by pair of columns.
pub(super) fn periods(roles: &Roles, sample: &Sample) -> Vec<OddRows> {
    let of_dates = sample.columns.iter().filter(|column| column.days.is_some()).take(MAX_COLUMNS);
    let columns: Vec<&Column> = of_dates.collect();
    let pairs = columns.iter().flat_map(|first| columns.iter().map(move |second| (*first, *second)));
    let pairs = pairs.filter(|(first, second)| first.index != second.index);
    pairs.filter_map(|(first, second)| of_pair(first, second, roles, sample)).collect()
}

fn of_pair(first: &Column, second: &Column, roles: &Roles, sample: &Sample) -> Option<OddRows> {
    let (starts, ends) = (first.days.as_ref()?, second.days.as_ref()?);
    // Of two readings of the dates, the one that contradicts fewer rows.
    let readings = [0, 1].map(|reading| {
        let days = starts.iter().zip(ends).enumerate();
        days.filter_map(|(place, (start, end))| Some((place, start.as_ref()?[reading], end.as_ref()?[reading])))
            .collect()
    });
    let readings = readings.map(|days: Vec<(usize, i32, i32)>| odd(&days, sample));
    let odd = readings.into_iter().flatten().min_by_key(Vec::len)?;
    let (column, beside, field) = match roles.mapped_at(first.index) {
        Some((column, field)) => (column, second.index, field),
        None => (second.index, first.index, roles.mapped_at(second.index).map_or("", |(_, field)| field)),
    };
    let name = roles.name_of(beside);
    let message = |(place, start, end): (usize, i32, i32)| {
        let other = shown(i64::from(if beside == second.index { end } else { start }));
        let row = *sample.rows.get(place)?;
        Some((row, format!("does not fit to '{name}', {other}, as in the other rows: one of the dates is wrong")))
    };
    let rows: Vec<(u64, String)> = odd.into_iter().filter_map(message).collect();
    (!rows.is_empty()).then(|| OddRows::new(Code::ImplausibleDate, (column, field), rows))
}

/// Returns the rows in which the second date is before the first, or far later than in all others. `None` if the dates have no order.
fn odd(days: &[(usize, i32, i32)], sample: &Sample) -> Option<Vec<(usize, i32, i32)>> {
    let period = |(_, start, end): &(usize, i32, i32)| end - start;
    let records = |odd: &[(usize, i32, i32)]| sample.records_of(odd.iter().map(|(place, ..)| *place));
    let few = (records(days) / 50).max(1);
    let later = days.iter().filter(|row| period(row) > 0).count();
    if days.len() < FEWEST || later * 2 < days.len() {
        return None;
    }
    let before: Vec<_> = days.iter().filter(|row| period(row) < 0).copied().collect();
    if records(&before) > few {
        return None;
    }
    if !before.is_empty() {
        return Some(before);
    }
    let mut periods: Vec<i32> = days.iter().map(period).collect();
    periods.sort_unstable();
    let usual = periods.get(periods.len() * 9 / 10).copied().filter(|usual| *usual <= SHORT_DAYS);
    let is_far = |row: &&(usize, i32, i32)| usual.is_some_and(|usual| period(row) > usual + YEAR_DAYS);
    let far: Vec<_> = days.iter().filter(is_far).copied().collect();
    let longest = days.iter().filter(|row| !is_far(row)).map(period).max().unwrap_or(0);
    let is_alone = far.iter().all(|row| period(row) > longest + YEAR_DAYS);
    Some(if records(&far) <= few && is_alone { far } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::Row;

    use super::super::testing::row;
    use super::*;

    /// Returns the rows, from 2, whose dates are odd.
    fn odd_rows(rows: &[[String; 2]]) -> Vec<u64> {
        let names = ["Ordered", "Shipped"].map(str::to_owned).to_vec();
        let roles = Roles { mapped: vec![(0, "orderAt")], unmapped: vec![1], names, ..Roles::default() };
        let rows: Vec<Row> = (2..).zip(rows).map(|(number, texts)| row(number, texts)).collect();
        let mut sample = Sample::new(&roles);
        rows.iter().for_each(|row| sample.row(&roles, row));
        let found = periods(&roles, &sample);
        let is_odd = |row: &&Row| found.iter().any(|odd| odd.judge(row).is_some());
        rows.iter().filter(is_odd).map(|row| row.number).collect()
    }

    #[test]
    fn dates_in_another_order_or_a_year_apart_are_found() {
        let rows: Vec<[String; 2]> =
            (1..25).map(|day| [format!("{day:02}.09.2026"), format!("{:02}.09.2026", day + 1 + day % 5)]).collect();
        assert!(odd_rows(&rows).is_empty());
        for date in ["02.09.2026", "12.09.2025", "12.09.2027"] {
            let mut odd = rows.clone();
            odd[9][1] = date.to_owned();
            assert_eq!(odd_rows(&odd), [11], "{date}");
        }
        // Two of 24, a delay, and dates in no order.
        let mut odd = rows.clone();
        (odd[9][1], odd[15][1]) = ("02.09.2026".to_owned(), "03.09.2026".to_owned());
        assert!(odd_rows(&odd).is_empty());
        odd = rows.clone();
        odd[9][1] = "30.11.2026".to_owned();
        assert!(odd_rows(&odd).is_empty());
        odd.iter_mut().step_by(2).for_each(|row| row.reverse());
        assert!(odd_rows(&odd).is_empty());
    }
}
