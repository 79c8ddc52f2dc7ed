//! Numbers as the service keeps them: in decimal, digit for digit, and only if a decimal type can hold them exactly.
//! No number here ever becomes a float.

use rust_decimal::Decimal;
use serde_json::Number;

/// Longer than the longest number that can be kept: a sign, 29 digits and a point, and some room.
const LONGEST: usize = 40;

/// The number in plain notation, with its digits as they were sent (`1234.50` stays so, `1.50e2` becomes `150`).
/// None if it has more digits than can be kept.
pub(super) fn exact(number: &Number) -> Option<String> {
    let text = number.as_str();
    let plain = match text.split_once(['e', 'E']) {
        None => text.to_owned(),
        Some((mantissa, exponent)) => without_exponent(mantissa, exponent)?,
    };
    if plain.len() > LONGEST {
        return None;
    }
    Decimal::from_str_exact(&plain).ok()?;
    Some(plain)
}

/// The number in plain notation as JSON, or None as in [`exact`].
pub(super) fn plain(number: &Number) -> Option<Number> {
    exact(number)?.parse().ok()
}

/// The value of a number that is kept. None if it is not one.
pub(super) fn decimal(number: &Number) -> Option<Decimal> {
    Decimal::from_str_exact(&exact(number)?).ok()
}

/// A decimal as JSON, with all of its digits.
pub(super) fn json(decimal: Decimal) -> Number {
    // A decimal in plain notation is a JSON number.
    decimal.to_string().parse().unwrap_or_else(|_| Number::from(0))
}

/// The product with all of its digits. None if they are more than can be kept.
pub(super) fn product(a: Decimal, b: Decimal) -> Option<Decimal> {
    let product = a.checked_mul(b)?;
    // The type rounds where digits do not fit.
    (product.is_zero() == (a.is_zero() || b.is_zero())
        && (product.is_zero() || product.scale() == a.scale() + b.scale()))
    .then_some(product)
}

/// The sum with all of its digits. None if they are more than can be kept.
pub(super) fn sum(a: Decimal, b: Decimal) -> Option<Decimal> {
    let sum = a.checked_add(b)?;
    // A zero leaves the other number its digits.
    (a.is_zero() || b.is_zero() || sum.is_zero() || sum.scale() == a.scale().max(b.scale())).then_some(sum)
}

/// The value of a JSON number without a fraction, such as `5` or `5.0`. None if 64 bits can't hold it.
pub(super) fn integer(number: &Number) -> Option<i64> {
    decimal(number).filter(Decimal::is_integer)?.normalize().to_string().parse().ok()
}

fn without_exponent(mantissa: &str, exponent: &str) -> Option<String> {
    let exponent: i32 = exponent.parse().ok()?;
    if mantissa.len() > LONGEST || exponent.unsigned_abs() as usize > LONGEST {
        return None;
    }
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    let mut point = whole.len() as i32 + exponent;
    while point < 1 {
        digits.insert(0, '0');
        point += 1;
    }
    let point = point as usize;
    while digits.len() < point {
        digits.push('0');
    }
    let (whole, fraction) = digits.split_at(point);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    fn exact_of(json: &str) -> Option<String> {
        exact(&serde_json::from_str(json).expect("a JSON number"))
    }

    #[test]
    fn digits_stay_as_they_were_sent() {
        for same in
            ["0", "-0", "1234.50", "0.10", "-3", "79228162514264337593543950335", "0.0000000000000000000000000001"]
        {
            assert_eq!(exact_of(same).as_deref(), Some(same));
        }
    }

    #[test]
    fn exponents_are_written_out() {
        let cases = [
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("1.50e1", "15.0"),
            ("1.50e2", "150"),
            ("-1.5e-2", "-0.015"),
            ("0.05e2", "5"),
            ("12e-28", "0.0000000000000000000000000012"),
            ("0e5", "0"),
        ];
        for (sent, kept) in cases {
            assert_eq!(exact_of(sent).as_deref(), Some(kept), "{sent}");
        }
    }

    #[test]
    fn what_cannot_be_kept_exactly_is_refused() {
        let long = "9".repeat(5000);
        let cases = [
            "79228162514264337593543950336",
            "0.12345678901234567890123456789",
            "1e29",
            "1e-29",
            "1e999999999999",
            "1e-999999999999",
            &long,
        ];
        for sent in cases {
            assert_eq!(exact_of(sent), None, "{sent}");
        }
    }

    #[test]
    fn products_and_sums_have_all_their_digits_or_are_none() {
        let decimal = |text: &str| Decimal::from_str_exact(text).expect("a decimal");
        let cases = [
            ("1.10", "3", Some("3.30"), Some("4.10")),
            ("0", "1.5", Some("0"), Some("1.5")),
            ("-0.01", "0.01", Some("-0.0001"), Some("0")),
            ("79228162514264337593543950335", "1", Some("79228162514264337593543950335"), None),
            ("0.00000000000001", "0.000000000000001", None, Some("0.000000000000011")),
            ("1234567890123456789", "1234567890123456789", None, Some("2469135780246913578")),
            ("0.00", "79228162514264337593543950335", Some("0"), Some("79228162514264337593543950335")),
            ("7922816251426433759354395033", "0.01", Some("79228162514264337593543950.33"), None),
        ];
        for (a, b, of_product, of_sum) in cases {
            let same = |found: Option<Decimal>, text: Option<&str>| {
                assert_eq!(found, text.map(decimal), "{a} and {b}");
            };
            same(product(decimal(a), decimal(b)), of_product);
            same(sum(decimal(a), decimal(b)), of_sum);
        }
    }

    proptest! {
        #[test]
        fn an_exponent_does_not_change_the_value(digits in 0i64..1_000_000_000, scale in 0u32..9, exponent in -9i32..9) {
            let mantissa = Decimal::new(digits, scale);
            let kept = exact_of(&format!("{mantissa}e{exponent}")).expect("few digits");
            let shift = Decimal::from_str_exact(&exact_of(&format!("1e{exponent}")).expect("few")).expect("exact");
            prop_assert_eq!(Decimal::from_str_exact(&kept).expect("exact"), mantissa * shift);
        }
    }
}
