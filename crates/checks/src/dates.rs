//! Dates that are probably mistyped: nothing was ordered or moved in the year 2062, or before these programs were used, and hardly a date is
//! years from all others of its column.

use std::collections::BTreeMap;

use jiff::civil;
use sheetport_findings::Code;
use sheetport_sheet::{Cell, Row};
use sheetport_values::normalize::trimmed;

use super::finding::Finding;
use super::sequence::days;
use super::words::is_until;

/// Earlier dates are two-digit years in the wrong century, or blank cells of a program that counts from 1900.
const EARLIEST_YEAR: i16 = 1990;

/// Fewest dates by which one of them is far away.
const FEWEST: u64 = 5;
/// Most different months. A column with more spans decades.
const MAX_MONTHS: usize = 240;
/// A date is far from the others if it is more months from their median than this, and than eight times the median distance. A mistyped
/// year is twelve months away.
const FAR_MONTHS: i32 = 11;
const FAR_DEVIATIONS: i32 = 8;
/// Longest text of a date in bytes.
const MAX_BYTES: usize = 40;

/// Counts of the months of a column of dates. Days do not matter, and may be confused with months without harm.
#[derive(Clone, Debug)]
pub(super) struct MonthCounts {
    column: usize,
    field: &'static str,
    months: BTreeMap<i32, u64>,
    dates: u64,
    others: u64,
}

/// Months that a few dates of a column have, far from all others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FarMonths {
    column: usize,
    field: &'static str,
    months: Vec<i32>,
    /// The median of the dates.
    usual: i32,
}

impl MonthCounts {
    pub(super) fn new(column: usize, field: &'static str) -> MonthCounts {
        MonthCounts { column, field, months: BTreeMap::new(), dates: 0, others: 0 }
    }

    pub(super) fn row(&mut self, row: &Row) {
        let cell = row.get(self.column);
        match month(&cell) {
            Some(month) => {
                self.dates += 1;
                if self.months.len() < MAX_MONTHS || self.months.contains_key(&month) {
                    *self.months.entry(month).or_default() += 1;
                }
            }
            None => self.others += u64::from(!cell.is_blank()),
        }
    }

    /// Returns the far months, if nearly all cells are dates, and few are far away.
    pub(super) fn far(&self) -> Option<FarMonths> {
        if self.dates < FEWEST || self.others * 5 > self.dates || self.months.len() >= MAX_MONTHS {
            return None;
        }
        let usual = median(self.months.iter().map(|(month, count)| (*month, *count)), self.dates)?;
        let mut distances: Vec<(i32, u64)> =
            self.months.iter().map(|(month, count)| ((month - usual).abs(), *count)).collect();
        distances.sort_unstable();
        let most = (median(distances.into_iter(), self.dates)? * FAR_DEVIATIONS).max(FAR_MONTHS);
        let is_far = |month: i32| (month - usual).abs() > most;
        let far: Vec<(&i32, &u64)> = self.months.iter().filter(|(month, _)| is_far(**month)).collect();
        let few = (self.dates / 20).max(1);
        let is_few = !far.is_empty() && far.iter().map(|(_, count)| **count).sum::<u64>() <= few;
        let months = far.into_iter().map(|(month, _)| *month).collect();
        is_few.then_some(FarMonths { column: self.column, field: self.field, months, usual })
    }
}

impl FarMonths {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let cell = row.get(self.column);
        let month = month(&cell).filter(|month| self.months.contains(month))?;
        let years = f64::from((month - self.usual).abs()) / 12.0;
        Some(Finding {
            code: Code::ImplausibleDate,
            remedy: "correct the date; if it is right, set damaged = \"accept\" for the field in the template"
                .to_owned(),
            ..Finding::unlike_others(
                (self.column, self.field),
                cell.shown().trim().to_owned(),
                format!("is {years:.1} years from the other dates of the column, about {}", shown(self.usual)),
            )
        })
    }
}

/// Returns the median of values in order, with the number of each.
fn median(values: impl Iterator<Item = (i32, u64)>, all: u64) -> Option<i32> {
    let mut before = 0;
    let mut values = values.map(|(value, count)| {
        before += count;
        (value, before)
    });
    values.find(|(_, before)| *before * 2 >= all).map(|(value, _)| value)
}

/// Returns the month of a date, counted from the year 0. A text has a year of four digits; of two other numbers that may both be the month,
/// the second is taken for it.
fn month(cell: &Cell<'_>) -> Option<i32> {
    let of = |date: civil::Date| i32::from(date.year()) * 12 + i32::from(date.month()) - 1;
    let text = match cell {
        Cell::Date(date) => return Some(of(*date)),
        Cell::DateTime(time) => return Some(of(time.date())),
        Cell::Text(text) if text.len() <= MAX_BYTES => trimmed(text),
        _ => return None,
    };
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers = [numbers.next()?, numbers.next()?, numbers.next()?];
    let [first, second, third] = numbers.map(|digits| (digits.len(), digits.parse::<i32>().unwrap_or(0)));
    let ((4, year), (..=2, one), (..=2, other)) = (match first.0 {
        4 => (first, third, second),
        _ => (third, first, second),
    }) else {
        return None;
    };
    let month = if other <= 12 { other } else { one };
    ((1900..2200).contains(&year) && (1..=12).contains(&month)).then_some(year * 12 + month - 1)
}

fn shown(month: i32) -> String {
    format!("{:04}-{:02}", month / 12, month % 12 + 1)
}

/// Returns the last date of a line above the header, if the list was valid until then, and it is over. Of several dates, the last one is the
/// end; a single one may be that of printing, but for a word such as *until*.
pub fn expired(title: &str, today: civil::Date) -> Option<civil::Date> {
    let words: Vec<&str> = title.split_whitespace().map(|word| word.trim_matches([',', '.', '(', ')', ':'])).collect();
    let number = |word: &str| word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<i16>().ok();
    let in_words = words.windows(3).filter_map(|parts| {
        let month = |word: &str| i8::try_from(sheetport_values::date::month(word)?).ok();
        let (day, month) = match (month(parts[1]), month(parts[0])) {
            (Some(month), _) => (parts[0], month),
            (None, month) => (parts[1], month?),
        };
        civil::Date::new(number(parts[2])?, month, i8::try_from(number(day)?).ok()?).ok()
    });
    // Of two readings, the later one.
    let of_days = |days: [i64; 2]| civil::Date::ZERO.checked_add(jiff::Span::new().days(days[0].max(days[1]))).ok();
    let in_numbers = words.iter().filter_map(|word| days(&Cell::Text(word)).and_then(of_days));
    let dates: Vec<civil::Date> = in_words.chain(in_numbers).collect();
    let is_end = dates.len() > 1 || title.split(|c: char| !c.is_alphabetic() && c != '/').any(is_until);
    dates.into_iter().max().filter(|last| is_end && *last < today)
}

/// Judges the date of a record of the past, as ISO 8601. A date in the next year may be planned.
pub fn implausible_date(iso: &str, value: &str, today: civil::Date, place: (usize, &'static str)) -> Option<Finding> {
    let year: i16 = iso.trim_matches('"').get(..4)?.parse().ok()?;
    if (EARLIEST_YEAR..=today.year() + 1).contains(&year) {
        return None;
    }
    let (column, field) = place;
    Some(Finding {
        code: Code::ImplausibleDate,
        remedy: "correct the date; if it is right, set damaged = \"accept\" for the field in the template".to_owned(),
        ..Finding::unlike_others((column, field), value.to_owned(), format!("is in the year {year}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts that are far from the others.
    fn far(texts: &[&str]) -> Vec<String> {
        let row = |text: &str| {
            let mut row = Row::default();
            row.push(Cell::Text(text));
            row
        };
        let mut counts = MonthCounts::new(0, "orderAt");
        texts.iter().for_each(|text| counts.row(&row(text)));
        let far = counts.far();
        let odd = texts.iter().filter(|text| far.as_ref().is_some_and(|far| far.judge(&row(text)).is_some()));
        odd.map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_date_years_from_all_others_is_found() {
        let week = ["2026-03-02", "2026-03-03", "2026-03-04 10:00", "2026-03-05T08:00:00Z", "2026-03-06"];
        for odd in ["2016-03-04", "1996-03-04", "2025-03-04", "2027-03-04"] {
            assert_eq!(far(&[&week[..], &[odd]].concat()), [odd]);
        }
        for fine in ["2026-12-31", "2025-12-01", "", "soon", "04.03.26"] {
            assert!(far(&[&week[..], &[fine]].concat()).is_empty(), "{fine}");
        }
        assert_eq!(far(&["02.03.2026", "13.03.2026", "04.03.2026", "05.03.2026", "31.3.2062"]), ["31.3.2062"]);
        // Contracts of many years, and two of six.
        assert!(far(&["2012-01-01", "2015-06-01", "2018-01-01", "2020-02-01", "2023-01-01", "2026-01-01"]).is_empty());
        assert!(far(&[&week[..4], &["2016-03-04", "2016-03-05"]].concat()).is_empty());
    }

    #[test]
    fn years_far_from_today_are_implausible() {
        let is_implausible = |iso: &str| implausible_date(iso, iso, civil::date(2026, 5, 1), (0, "orderAt")).is_some();
        for iso in ["\"2062-01-08\"", "1926-01-10", "2028-01-01", "\"1899-12-31T00:00:00Z\""] {
            assert!(is_implausible(iso), "{iso}");
        }
        for iso in ["\"2026-01-08\"", "1990-01-01", "2027-12-31T22:00:00Z", "null", ""] {
            assert!(!is_implausible(iso), "{iso}");
        }
    }
}
