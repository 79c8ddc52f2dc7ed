//! Texts that a spreadsheet program turned into numbers: `000042` becomes 42, and `4006381333948` becomes 4.00638E+12.

use crate::decimal;
use crate::sheet::Cell;

/// Programs shorten numbers with more digits than this when they show them, and write what they show to text files.
const MAX_SHOWN: usize = 11;
/// Programs keep this number of significant digits.
const PRECISION: usize = 15;
/// Minimum number of significant digits of a shortened number.
const MIN_SHOWN: usize = 3;

/// Whether a spreadsheet program may write this text differently, because it looks like a number.
pub(super) fn may_be_respelled(text: &str) -> bool {
    number(text).is_some()
}

/// Whether `cell` is the number that a spreadsheet program makes of `original`: equal, or equal after the rounding of
/// programs.
pub(super) fn is_respelled(original: &str, cell: &Cell<'_>) -> bool {
    if matches!(cell, Cell::Text(text) if text.trim() == original.trim()) {
        return false;
    }
    let shown = cell.shown();
    // Only texts with an exponent are read with a decimal comma: 1,5 may be another number.
    let is_shortened = shown.contains(['E', 'e']);
    let shown = if is_shortened { shown.replace(',', ".") } else { shown.into_owned() };
    let (Some(original), Some(now)) = (number(original), number(&shown)) else { return false };
    if original == now {
        return true;
    }
    let len = original.digits.len() + usize::try_from(original.power).unwrap_or(0);
    let precisions = match is_shortened {
        true if len > MAX_SHOWN => now.digits.len().max(MIN_SHOWN)..=PRECISION,
        _ if original.digits.len() > PRECISION => PRECISION..=PRECISION,
        _ => return false,
    };
    precisions.into_iter().any(|digits| original.rounded(digits) == now)
}

/// A number as significant digits, without zeros at the ends, and the power of ten of the last one.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    is_negative: bool,
    digits: String,
    power: i64,
}

fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let canonical = decimal::canonical(text.strip_prefix('+').unwrap_or(text))?;
    let (digits, power) = canonical.split_once('e').unwrap_or((&canonical, "0"));
    let (is_negative, digits) = digits.strip_prefix('-').map_or((false, digits), |digits| (true, digits));
    Some(Number { is_negative, digits: digits.to_owned(), power: power.parse().ok()? })
}

impl Number {
    /// Returns the number with at most so many significant digits, half rounded up.
    fn rounded(&self, digits: usize) -> Number {
        if self.digits.len() <= digits {
            return Number { digits: self.digits.clone(), ..*self };
        }
        let (kept, rest) = self.digits.split_at(digits);
        let kept: u64 = kept.parse().expect("at most 15 digits");
        let kept = kept + u64::from(rest.as_bytes()[0] >= b'5');
        let text = kept.to_string();
        let significant = text.trim_end_matches('0');
        let zeros = (text.len() - significant.len()) as i64;
        Number { digits: significant.to_owned(), power: self.power + rest.len() as i64 + zeros, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_programs_make_of_texts_are_recognized() {
        for (original, now) in [
            ("000042", "42"),
            ("1.50", "1.5"),
            ("+49301234567", "49301234567"),
            ("4006381333948", "4.00638E+12"),
            ("4006381333948", "4,00638E+12"),
            ("4000001234567", "4E+12"),
            ("4006381333948", "4006381333948.0"),
            ("12E5", "1.20E+06"),
            ("40063813339481234", "40063813339481200"),
            ("0", "0.00"),
            ("-007", "-7"),
        ] {
            assert!(is_respelled(original, &Cell::Text(now)), "{original} {now}");
        }
        assert!(is_respelled("000042", &Cell::Number(42.0)));
        assert!(is_respelled("40063813339481234", &Cell::Number(40_063_813_339_481_200.0)));
        for (original, now) in [
            ("000042", "43"),
            ("000042", "000042"),
            ("4006381333948", "4.00639E+12"),
            ("4006381333948", "4006381330000"),
            ("A-7", "7"),
            ("1.5", "15"),
            ("15", "1,5"),
            ("42", ""),
            ("1200", "1.2E+04"),
        ] {
            assert!(!is_respelled(original, &Cell::Text(now)), "{original} {now}");
        }
    }
}
