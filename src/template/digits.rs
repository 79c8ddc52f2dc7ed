//! Exact arithmetic on plain digits, such as `-12.50`: what a number is between its cell and the request.

use std::borrow::Cow;
use std::cmp::Ordering;

use rust_decimal::{Decimal, RoundingStrategy};

use super::number::Fault;

/// The most digits that a number may have: what an exact decimal of 96 bits can hold.
pub const MAX_DIGITS: usize = 28;

/// Rounds half away from zero, as people do, to `places` decimals. What has no more decimals than that is borrowed.
pub fn to_places(digits: &str, places: u32) -> Cow<'_, str> {
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    if usize::try_from(places).is_ok_and(|places| decimals <= places) {
        return Cow::Borrowed(digits);
    }
    match Decimal::from_str_exact(digits) {
        Ok(number) => Cow::Owned(shown(number.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero))),
        Err(_) => Cow::Borrowed(digits),
    }
}

/// As [`to_places`], as a text of its own.
pub fn round(digits: &str, places: u32) -> String {
    to_places(digits, places).into_owned()
}

/// Multiplies exactly; the product has no zeros at the end of its fraction.
pub fn scale(digits: &str, factor: Decimal) -> Result<String, Fault> {
    let number = Decimal::from_str_exact(digits).map_err(|_| Fault::TooLong)?.normalize();
    let factor = factor.normalize();
    let mut product = number.mantissa().checked_mul(factor.mantissa()).ok_or(Fault::TooLong)?;
    let mut decimals = usize::try_from(number.scale() + factor.scale()).map_err(|_| Fault::TooLong)?;
    while decimals > 0 && product % 10 == 0 {
        product /= 10;
        decimals -= 1;
    }
    plain(product, decimals)
}

/// Adds exactly; the sum has as many decimals as the summand with more of them.
pub fn add(left: &str, right: &str) -> Result<String, Fault> {
    let decimal = |digits| Decimal::from_str_exact(digits).map_err(|_| Fault::TooLong);
    let (left, right) = (decimal(left)?, decimal(right)?);
    let decimals = left.scale().max(right.scale());
    let raised = |number: Decimal| {
        let power = 10i128.checked_pow(decimals - number.scale())?;
        number.mantissa().checked_mul(power)
    };
    let sum = raised(left).zip(raised(right)).and_then(|(left, right)| left.checked_add(right));
    plain(sum.ok_or(Fault::TooLong)?, usize::try_from(decimals).map_err(|_| Fault::TooLong)?)
}

/// Subtracts exactly.
pub fn subtract(left: &str, right: &str) -> Result<String, Fault> {
    match right.strip_prefix('-') {
        Some(positive) => add(left, positive),
        None => add(left, &format!("-{right}")),
    }
}

/// Multiplies exactly, as [`scale`] does.
pub fn multiply(left: &str, right: &str) -> Result<String, Fault> {
    scale(left, Decimal::from_str_exact(right).map_err(|_| Fault::TooLong)?)
}

/// Divides, and rounds half away from zero to `places` decimals. Nothing is `None` but a division by zero.
pub fn divide(left: &str, right: &str, places: u32) -> Option<Result<String, Fault>> {
    let decimal = |digits| Decimal::from_str_exact(digits).map_err(|_| Fault::TooLong);
    let (left, right) = match (decimal(left), decimal(right)) {
        (Ok(left), Ok(right)) => (left.normalize(), right.normalize()),
        (Err(fault), _) | (_, Err(fault)) => return Some(Err(fault)),
    };
    if right.is_zero() {
        return None;
    }
    let raised = |number: Decimal, decimals: u32| number.mantissa().checked_mul(10i128.checked_pow(decimals)?);
    let quotient = || {
        let number = raised(left, places.checked_add(right.scale())?)?;
        let by = raised(right, left.scale())?;
        let (whole, rest) = (number.checked_div(by)?, number.checked_rem(by)?);
        let away = rest.unsigned_abs() >= by.unsigned_abs() - rest.unsigned_abs();
        let step = if (number < 0) == (by < 0) { 1 } else { -1 };
        Some(if away { whole + step } else { whole })
    };
    let places = usize::try_from(places).unwrap_or(usize::MAX);
    Some(quotient().ok_or(Fault::TooLong).and_then(|quotient| plain(quotient, places)))
}

/// The digits of a whole number: `5.00` is 5, and `5.5` is a fault.
pub fn integer(digits: &str) -> Result<&str, Fault> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    match fraction.bytes().all(|b| b == b'0') {
        true => Ok(if whole == "-0" { "0" } else { whole }),
        false => Err(Fault::NotWhole),
    }
}

/// Which of two numbers is greater.
pub fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Parts::of(left), Parts::of(right));
    match (left.negative, right.negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => left.compare(&right),
        (true, true) => right.compare(&left),
    }
}

/// A decimal as plain digits; zero has no sign.
pub fn shown(number: Decimal) -> String {
    if number.is_zero() { number.abs().to_string() } else { number.to_string() }
}

/// The digits of a whole number of so many decimals.
fn plain(number: i128, decimals: usize) -> Result<String, Fault> {
    let bare = number.unsigned_abs().to_string();
    if bare.len().max(decimals) > MAX_DIGITS {
        return Err(Fault::TooLong);
    }
    let padded = format!("{bare:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    let sign = if number < 0 { "-" } else { "" };
    Ok(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Parts<'a> {
    fn of(digits: &'a str) -> Parts<'a> {
        let (negative, bare) = digits.strip_prefix('-').map_or((false, digits), |bare| (true, bare));
        let (whole, fraction) = bare.split_once('.').unwrap_or((bare, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        Parts { negative: negative && !(whole.is_empty() && fraction.is_empty()), whole, fraction }
    }

    fn compare(&self, other: &Parts<'_>) -> Ordering {
        let by_length = self.whole.len().cmp(&other.whole.len());
        by_length.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str_exact(text).expect("a decimal")
    }

    #[test]
    fn rounding_goes_away_from_zero_at_the_half() {
        for (digits, places, rounded) in [
            ("1.005", 2, "1.01"),
            ("-1.005", 2, "-1.01"),
            ("2.5", 0, "3"),
            ("1.2", 2, "1.2"),
            ("-0.4", 0, "0"),
            ("-0.004", 2, "0.00"),
            ("9999999999999999999999999999", 2, "9999999999999999999999999999"),
        ] {
            assert_eq!(round(digits, places), rounded);
        }
        assert!(matches!(to_places("12.40", 2), Cow::Borrowed("12.40")));
    }

    #[test]
    fn scaling_is_exact_or_a_fault() {
        for (digits, factor, product) in [
            ("1250", "0.01", "12.5"),
            ("12.50", "100", "1250"),
            ("0.1", "0.2", "0.02"),
            ("-3", "0.001", "-0.003"),
            ("-0.00", "5", "0"),
            ("5", "-1", "-5"),
            ("7", "1.19", "8.33"),
            ("0.0000000000000000000000000001", "10", "0.000000000000000000000000001"),
        ] {
            assert_eq!(scale(digits, decimal(factor)).as_deref(), Ok(product), "{digits} × {factor}");
        }
        for (digits, factor) in [
            ("9999999999999999999999999999", "10"),
            ("9999999999999999999999999999", "9999999999999999999999999999"),
            ("0.0000000000000000000000000001", "0.1"),
        ] {
            assert_eq!(scale(digits, decimal(factor)), Err(Fault::TooLong), "{digits} × {factor}");
        }
    }

    #[test]
    fn sums_and_quotients_are_exact() {
        for (left, right, sum) in [("0.1", "0.2", "0.3"), ("1.50", "-1.5", "0.00"), ("-5", "0.25", "-4.75")] {
            assert_eq!(add(left, right).as_deref(), Ok(sum));
        }
        assert_eq!(add("9999999999999999999999999999", "0.0000000000000000000000000001"), Err(Fault::TooLong));
        assert_eq!(add("9999999999999999999999999999", "1"), Err(Fault::TooLong));
        for (left, right, places, quotient) in [
            ("10", "4", 0, "3"),
            ("-10", "4", 0, "-3"),
            ("10", "-3", 2, "-3.33"),
            ("2", "3", 2, "0.67"),
            ("1.50", "0.5", 1, "3.0"),
            ("0", "-7", 2, "0.00"),
            ("-1", "3", 0, "0"),
        ] {
            assert_eq!(divide(left, right, places), Some(Ok(quotient.to_owned())), "{left} / {right}");
        }
        assert_eq!(divide("1", "0.00", 2), None);
        assert_eq!(divide("1", "3", 60), Some(Err(Fault::TooLong)));
        assert_eq!(divide("1", "3", u32::MAX), Some(Err(Fault::TooLong)));
    }

    #[test]
    fn whole_numbers_may_be_written_with_zeros_after_the_point() {
        for (digits, whole) in [("5", "5"), ("5.0", "5"), ("-5.00", "-5"), ("0", "0"), ("-0.0", "0")] {
            assert_eq!(integer(digits), Ok(whole));
        }
        for digits in ["5.5", "0.01", "-1.10"] {
            assert_eq!(integer(digits), Err(Fault::NotWhole));
        }
    }

    proptest! {
        #[test]
        fn numbers_compare_as_decimals_do(left: i64, a in 0u32..12, right: i64, b in 0u32..12, near in any::<bool>()) {
            let left = Decimal::new(left, a);
            let right = if near { left + Decimal::new(right.signum(), b) } else { Decimal::new(right, b) };
            prop_assert_eq!(compare(&left.to_string(), &right.to_string()), left.cmp(&right));
            prop_assert_eq!(compare(&format!("{left}"), &format!("{}", left.normalize())), Ordering::Equal);
        }

        #[test]
        fn scaling_multiplies(number: i32, a in 0u32..9, factor: i32, b in 0u32..9) {
            let (number, factor) = (Decimal::new(number.into(), a), Decimal::new(factor.into(), b));
            prop_assert_eq!(scale(&number.to_string(), factor), Ok(shown((number * factor).normalize())));
        }
    }
}
