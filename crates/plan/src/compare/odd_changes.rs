//! What is odd about the changes of a field: values that become ten times as large, zero or blank, and one factor for nearly all of them.
//!
//! Wrong values that are well-formed, such as prices in cents or with tax, show nowhere else.

use serde::Serialize;

/// From this factor on, a number has probably got another unit or a digit too many. Among 4,400 changes in successive files of other people,
/// none had a power of ten as its factor.
const LARGE: f64 = 10.0;
/// From this number of changes on, one common factor is no coincidence.
const MIN_COMMON: usize = 5;
/// The share of the changes that a common factor needs.
const COMMON: f64 = 0.8;
/// Changes whose rounding leaves more room for the factor than this say nothing about it: 0.05 becomes 0.06 with many factors.
const MAX_ROOM: f64 = 0.005;
/// Changes kept for the median and the common factor. More alter neither.
const MAX_CHANGES: usize = 100_000;
/// The changes of the largest numbers, whose factors are the most exact, that are tried for the common factor.
const TRIED: usize = 8;

/// What is odd about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OddChange {
    TenTimes,
    TenthOrLess,
    Zero,
    Blank,
}

/// The changes of a field.
#[derive(Debug, Default)]
pub struct Overview {
    numbers: Vec<NumberChange>,
    pub ten_times: u64,
    pub tenth_or_less: u64,
    pub zero: u64,
    pub blank: u64,
}

impl Overview {
    /// Adds a changed value, and returns what is odd about it.
    pub(super) fn add(&mut self, old: &str, new: &str, is_number: bool) -> Option<OddChange> {
        let odd = match new.is_empty() {
            true => Some(OddChange::Blank),
            false if is_number => self.add_number(NumberChange::of(old, new)?),
            false => None,
        };
        let count = match odd? {
            OddChange::TenTimes => &mut self.ten_times,
            OddChange::TenthOrLess => &mut self.tenth_or_less,
            OddChange::Zero => &mut self.zero,
            OddChange::Blank => &mut self.blank,
        };
        *count += 1;
        odd
    }

    fn add_number(&mut self, change: NumberChange) -> Option<OddChange> {
        let factor = change.factor();
        if change.new == 0.0 {
            return Some(OddChange::Zero);
        }
        if !factor.is_normal() {
            return None;
        }
        if self.numbers.len() < MAX_CHANGES {
            self.numbers.push(change);
        }
        // Decimals are compared as binary numbers, and 0.1 and 1 differ by slightly less than ten times.
        let room = 1.0 + f64::EPSILON * 8.0;
        match factor.abs() {
            large if large * room >= LARGE => Some(OddChange::TenTimes),
            small if small <= room / LARGE => Some(OddChange::TenthOrLess),
            _ => None,
        }
    }

    /// Returns each oddity that occurs, with the number of its changes.
    pub fn odd(&self) -> impl Iterator<Item = (OddChange, u64)> {
        let all = [
            (OddChange::TenTimes, self.ten_times),
            (OddChange::TenthOrLess, self.tenth_or_less),
            (OddChange::Zero, self.zero),
            (OddChange::Blank, self.blank),
        ];
        all.into_iter().filter(|(_, count)| *count > 0)
    }

    /// Returns the median of new ÷ old, if numbers have changed.
    pub fn median(&self) -> Option<f64> {
        let mut factors: Vec<f64> = self.numbers.iter().map(NumberChange::factor).collect();
        let middle = factors.len() / 2;
        if factors.is_empty() {
            return None;
        }
        Some(*factors.select_nth_unstable_by(middle, f64::total_cmp).1)
    }

    /// Returns the factor that nearly all changed numbers have in common, such as 1.19, and the number of those that have it.
    pub fn common_factor(&self) -> Option<(f64, usize)> {
        let mut exact: Vec<&NumberChange> = self.numbers.iter().filter(|change| change.room() <= MAX_ROOM).collect();
        exact.sort_by(|one, other| one.room().total_cmp(&other.room()));
        let agree = |factor: f64| exact.iter().filter(|change| change.has(factor)).count();
        let tried = exact.iter().take(TRIED).map(|change| change.factor());
        let (factor, alike) = tried.map(|factor| (factor, agree(factor))).max_by_key(|(_, alike)| *alike)?;
        let is_common = alike >= MIN_COMMON && alike as f64 >= COMMON * exact.len() as f64;
        is_common.then(|| (factor, self.numbers.iter().filter(|change| change.has(factor)).count()))
    }
}

/// A number with another value.
#[derive(Debug)]
struct NumberChange {
    old: f64,
    new: f64,
    /// Half of the last digit of the new number.
    rounding: f64,
}

impl NumberChange {
    fn of(old: &str, new: &str) -> Option<NumberChange> {
        let decimals = new.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let rounding = 0.5 / 10_f64.powi(i32::try_from(decimals).ok()?);
        Some(NumberChange { old: old.parse().ok()?, new: new.parse().ok()?, rounding })
    }

    fn factor(&self) -> f64 {
        self.new / self.old
    }

    /// Returns by how much the factor may differ because of the rounding, as a share of it.
    fn room(&self) -> f64 {
        self.rounding / self.new.abs()
    }

    /// Whether the new number is the rounded product of the old one and `factor`. The factor itself may be of a rounded number.
    fn has(&self, factor: f64) -> bool {
        (self.old * factor - self.new).abs() <= self.rounding * 1.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_another_order_of_magnitude_are_odd() {
        use OddChange::{Blank, TenTimes, TenthOrLess, Zero};
        for (old, new, expected) in [
            ("1.50", "1.75", None),
            ("1.50", "15", Some(TenTimes)),
            ("0.1", "1", Some(TenTimes)),
            ("1", "0.1", Some(TenthOrLess)),
            ("12.99", "1299", Some(TenTimes)),
            ("1299", "12.99", Some(TenthOrLess)),
            ("5", "0", Some(Zero)),
            ("5", "", Some(Blank)),
            ("", "5", None),
            ("0", "5", None),
            ("5", "49.9", None),
        ] {
            assert_eq!(Overview::default().add(old, new, true), expected, "{old} -> {new}");
        }
        assert_eq!(Overview::default().add("a", "", false), Some(Blank));
        assert_eq!(Overview::default().add("1", "10", false), None);
    }

    #[test]
    fn a_common_factor_is_one_of_nearly_all_changes() {
        let overview = |changes: &[(&str, &str)]| {
            let mut overview = Overview::default();
            for (old, new) in changes {
                overview.add(old, new, true);
            }
            overview
        };
        let with_tax = [("10", "11.90"), ("6.35", "7.56"), ("99.99", "118.99"), ("1.49", "1.77"), ("250", "297.50")];
        let found = overview(&with_tax).common_factor().map(|(factor, count)| (format!("{factor:.4}"), count));
        assert_eq!(found, Some(("1.1900".to_owned(), 5)));
        assert_eq!(overview(&with_tax[..4]).common_factor(), None, "four may be a coincidence");
        let increases = [("10", "10.50"), ("6.35", "6.50"), ("99.99", "104.99"), ("1.49", "1.59"), ("250", "245")];
        assert_eq!(overview(&increases).common_factor(), None);
        assert_eq!(overview(&[]).median(), None);
    }
}
