//! Dates partly damaged by a spreadsheet program in another language: it reads 03/04/2026 as 4 March and stores a date, and
//! leaves 13/04/2026 as a text.

use jiff::civil::Date;
use sheetport_sheet::Cell;

/// The dates and texts of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnedDates {
    /// Date cells that are still valid dates with day and month swapped.
    ambiguous: u64,
    /// Other date cells.
    certain: u64,
    /// Texts in which only the first number can be a day.
    days_first: u64,
    /// Texts in which only the second number can be a day.
    days_second: u64,
    /// Other texts.
    others: u64,
}

impl TurnedDates {
    pub(super) fn add(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Date(date) => self.add_date(date),
            Cell::DateTime(at) => self.add_date(at.date()),
            Cell::Text(text) if !text.trim().is_empty() => match numbers(text) {
                Some((13..=31, 1..=12)) => self.days_first += 1,
                Some((1..=12, 13..=31)) => self.days_second += 1,
                _ => self.others += 1,
            },
            _ => {}
        }
    }

    fn add_date(&mut self, date: Date) {
        if date.day() <= 12 { self.ambiguous += 1 } else { self.certain += 1 }
    }

    /// Whether the dates fit a program that swapped all days up to 12, and could not read later days.
    pub(super) fn are_turned(&self) -> bool {
        self.ambiguous > 0 && self.certain == 0 && self.others == 0 && (self.days_first > 0) != (self.days_second > 0)
    }
}

/// Returns the first two numbers of a date such as `13/04/2026` or `13.4.26`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let date = text.trim().split(' ').next()?;
    let mut parts = date.split(['/', '.', '-']);
    let mut number = || {
        let part = parts.next()?;
        (part.len() <= 4).then(|| part.parse().ok()).flatten()
    };
    let (first, second, _year) = (number()?, number()?, number()?);
    Some((first, second))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[track_caller]
    fn check(dates: &[(i8, i8)], texts: &[&str], expected: bool) {
        let mut turned = TurnedDates::default();
        dates.iter().for_each(|(month, day)| turned.add(Cell::Date(date(2026, *month, *day))));
        texts.iter().for_each(|text| turned.add(Cell::Text(text)));
        assert_eq!(turned.are_turned(), expected, "{dates:?} {texts:?}");
    }

    #[test]
    fn texts_with_late_days_show_that_the_date_cells_are_turned() {
        check(&[(3, 4), (5, 2)], &["13/02/2026", "28.2.26"], true);
        check(&[(3, 4)], &["02/13/2026"], true);
        check(&[(3, 4)], &[], false);
        check(&[(3, 14)], &["13/02/2026"], false);
        check(&[(3, 4)], &["13/02/2026", "02/13/2026"], false);
        check(&[(3, 4)], &["13/02/2026", "04/03/2026"], false);
        check(&[(3, 4)], &["2026-02-13"], false);
    }
}
