//! What is odd about the changes of a field: values that become ten times as large, zero or blank, a factor far from those of the others, a
//! status that only few records change, and one factor for nearly all of them.
//!
//! Wrong values that are well-formed, such as prices in cents or with tax, show nowhere else.

use std::borrow::Cow;

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

/// From this number of changes on, it can be said what is usual among them.
const MIN_OTHERS: usize = 12;
/// A factor is far from the others if it is twice or half as large as their median, as a natural logarithm: sales and price increases stay below.
const FAR: f64 = std::f64::consts::LN_2;
/// And if it is this many times as far from the median as half of the others are, so that lists whose changes differ widely have none.
const FAR_DEVIATIONS: f64 = 8.0;
/// A status is odd if at most one in this many records changes it: a file of new states changes most of them.
const RARE: u64 = 10;

/// What is odd about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OddChange {
    TenTimes,
    TenthOrLess,
    Zero,
    Blank,
    /// The number changes by a factor far from those of the others.
    Far,
    /// Only few records change their status.
    Status,
}

/// The changes of a field.
#[derive(Debug, Default)]
pub struct Overview {
    numbers: Vec<NumberChange>,
    pub ten_times: u64,
    pub tenth_or_less: u64,
    pub zero: u64,
    pub blank: u64,
    pub far: u64,
    pub status: u64,
}

impl Overview {
    /// Adds a changed value, and returns what is odd about it.
    pub(super) fn add(&mut self, old: &str, new: &str, is_number: bool) -> Option<OddChange> {
        let odd = match new.is_empty() {
            true => Some(OddChange::Blank),
            false if is_number => self.add_number(NumberChange::of(old, new)?),
            false => None,
        };
        self.count(odd?);
        odd
    }

    fn count(&mut self, odd: OddChange) {
        let count = match odd {
            OddChange::TenTimes => &mut self.ten_times,
            OddChange::TenthOrLess => &mut self.tenth_or_less,
            OddChange::Zero => &mut self.zero,
            OddChange::Blank => &mut self.blank,
            OddChange::Far => &mut self.far,
            OddChange::Status => &mut self.status,
        };
        *count += 1;
    }

    /// Finds what is odd about changes beside those of the other records, when all are known, and sets it. `is_status`: the field is a status.
    /// `changes`: all changes of the field, with the old and the new value and what is odd about them alone. `compared`: all compared records.
    pub(super) fn compare_with_others<'c>(
        &mut self,
        is_status: bool,
        changes: impl Iterator<Item = (Cow<'c, str>, &'c str, &'c mut Option<OddChange>)>,
        count: u64,
        compared: u64,
    ) {
        let usual = Usual::of(&self.numbers);
        let is_rare_status = is_status && count.saturating_mul(RARE) <= compared;
        if usual.is_none() && !is_rare_status {
            return;
        }
        for (old, new, odd) in changes.filter(|(.., odd)| odd.is_none()) {
            let is_far =
                || usual.as_ref().zip(NumberChange::of(&old, new)).is_some_and(|(usual, it)| usual.is_far(&it));
            let found = match is_rare_status {
                true => Some(OddChange::Status).filter(|_| !old.is_empty()),
                false => is_far().then_some(OddChange::Far),
            };
            if let Some(found) = found {
                *odd = Some(found);
                self.count(found);
            }
        }
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
            (OddChange::Far, self.far),
            (OddChange::Status, self.status),
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

/// Whether a field is the state of a record, such as `status` or `deliveryStatus`.
pub(super) fn is_status(field: &str) -> bool {
    field.to_ascii_lowercase().ends_with("status")
}

/// The usual factor of the changes of a field.
struct Usual {
    /// The median of the logarithms of the factors, and the median of their distances from it.
    median: f64,
    deviation: f64,
}

impl Usual {
    /// Returns what is usual, or `None` of too few changes.
    fn of(changes: &[NumberChange]) -> Option<Usual> {
        let mut logarithms: Vec<f64> = changes.iter().filter_map(NumberChange::logarithm).collect();
        if logarithms.len() < MIN_OTHERS {
            return None;
        }
        let middle = logarithms.len() / 2;
        let median = *logarithms.select_nth_unstable_by(middle, f64::total_cmp).1;
        logarithms.iter_mut().for_each(|it| *it = (*it - median).abs());
        let deviation = *logarithms.select_nth_unstable_by(middle, f64::total_cmp).1;
        Some(Usual { median, deviation })
    }

    fn is_far(&self, change: &NumberChange) -> bool {
        let distance = change.logarithm().map(|it| (it - self.median).abs());
        distance.is_some_and(|it| it >= FAR && it >= FAR_DEVIATIONS * self.deviation)
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

    /// Returns the logarithm of the factor, or `None` if a number is zero or changes its sign.
    fn logarithm(&self) -> Option<f64> {
        Some(self.factor()).filter(|factor| factor.is_normal() && *factor > 0.0).map(f64::ln)
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

    #[test]
    fn changes_are_compared_with_the_others() {
        let odd = |is_status: bool, compared: u64, changes: &[(&str, &str)]| {
            let mut overview = Overview::default();
            let mut found: Vec<Option<OddChange>> =
                changes.iter().map(|(old, new)| overview.add(old, new, !is_status)).collect();
            let pairs = changes.iter().zip(&mut found).map(|((old, new), odd)| (Cow::Borrowed(*old), *new, odd));
            overview.compare_with_others(is_status, pairs, changes.len() as u64, compared);
            assert_eq!(overview.odd().map(|(_, count)| count).sum::<u64>(), found.iter().flatten().count() as u64);
            found
        };
        // Prices rise by 3 to 7 %.
        let rise = [("10", "10.50"), ("20", "20.60"), ("30", "32.10"), ("8", "8.40"), ("5", "5.20"), ("7", "7.35")];
        let many = |last: (&'static str, &'static str)| [&rise[..], &rise[..], &[last]].concat();
        for (last, expected) in [
            (("10", "25"), Some(OddChange::Far)),
            (("25", "10"), Some(OddChange::Far)),
            (("10", "14"), None),
            (("10", "7"), None),
            (("10", "100"), Some(OddChange::TenTimes)),
            (("-1", "2"), None),
        ] {
            let found = odd(false, 13, &many(last));
            assert_eq!(found.last(), Some(&expected), "{last:?}");
            assert_eq!(found.iter().flatten().count(), usize::from(expected.is_some()), "{last:?}");
        }
        assert_eq!(odd(false, 7, &[&rise[..], &[("10", "25")]].concat()).last(), Some(&None), "too few");
        // Clearance: everything differs.
        let wide: Vec<_> = (1..20).map(|nth| ("10", ["3", "5", "8", "12", "20", "31"][nth % 6])).collect();
        assert!(odd(false, 20, &wide).iter().all(Option::is_none));
        // A status.
        let off = ("active", "inactive");
        assert_eq!(odd(true, 20, &[off, off]), [Some(OddChange::Status); 2]);
        assert_eq!(odd(true, 19, &[off, off]), [None; 2], "more than one in ten");
        assert_eq!(odd(true, 20, &[("", "active")]), [None], "it had none");
        assert_eq!(odd(true, 20, &[("active", "")]), [Some(OddChange::Blank)]);
    }
}
