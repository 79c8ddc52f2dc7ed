//! Exact arithmetic, failing instead of rounding.

use rust_decimal::{Decimal, RoundingStrategy};

use super::error::DecimalError;

/// Adds exactly. The sum has the decimals of the operand with more decimals.
pub fn add(left: Decimal, right: Decimal) -> Result<Decimal, DecimalError> {
    let scale = left.scale().max(right.scale());
    let mut sum = left.checked_add(right).ok_or(DecimalError::TooManyDigits)?;
    // rust_decimal rounds a sum that does not fit, and leaves out the decimals of a zero.
    if sum.scale() < scale {
        if !left.is_zero() && !right.is_zero() && !sum.is_zero() {
            return Err(DecimalError::TooManyDigits);
        }
        sum.rescale(scale);
    }
    Ok(unsigned_zero(sum))
}

/// Subtracts exactly. The difference has the decimals of the operand with more decimals.
pub fn subtract(left: Decimal, right: Decimal) -> Result<Decimal, DecimalError> {
    add(left, -right)
}

/// Multiplies exactly. The product has the decimals of both factors together.
pub fn multiply(left: Decimal, right: Decimal) -> Result<Decimal, DecimalError> {
    let product = left.checked_mul(right).ok_or(DecimalError::TooManyDigits)?;
    // rust_decimal rounds a product that does not fit.
    if left.is_zero() || right.is_zero() {
        Ok(Decimal::ZERO)
    } else if product.scale() == left.scale() + right.scale() {
        Ok(product)
    } else {
        Err(DecimalError::TooManyDigits)
    }
}

/// Multiplies, and rounds a product with more than 28 digits to fewer decimals. Fails if its whole part is too long.
pub fn multiply_rounded(left: Decimal, right: Decimal) -> Result<Decimal, DecimalError> {
    multiply(left, right).or_else(|_| left.checked_mul(right).map(unsigned_zero).ok_or(DecimalError::TooManyDigits))
}

/// Divides and rounds to `places` decimals, half away from zero.
pub fn divide(left: Decimal, right: Decimal, places: u32) -> Result<Decimal, DecimalError> {
    if right.is_zero() {
        return Err(DecimalError::DivisionByZero);
    }
    // `Decimal` rounds quotients itself, so a second rounding could be wrong. Whole numbers leave an exact remainder.
    let quotient = || {
        let (left, right) = (left.normalize(), right.normalize());
        let shifted = |number: Decimal, by: u32| number.mantissa().checked_mul(10_i128.checked_pow(by)?);
        let dividend = shifted(left, places.checked_add(right.scale())?)?;
        let divisor = shifted(right, left.scale())?;
        let (quotient, remainder) = (dividend.checked_div(divisor)?, dividend.checked_rem(divisor)?);
        let rounds_away = remainder.unsigned_abs() >= divisor.unsigned_abs() - remainder.unsigned_abs();
        let step = if (dividend < 0) == (divisor < 0) { 1 } else { -1 };
        Decimal::try_from_i128_with_scale(if rounds_away { quotient + step } else { quotient }, places).ok()
    };
    quotient().ok_or(DecimalError::TooManyDigits)
}

/// Divides exactly. Fails if the quotient does not end within 28 digits, such as 1 / 3.
pub fn divide_exactly(left: Decimal, right: Decimal) -> Result<Decimal, DecimalError> {
    if right.is_zero() {
        return Err(DecimalError::DivisionByZero);
    }
    // rust_decimal rounds quotients of more than 28 digits. Multiplying back detects this.
    let (left, right) = (left.normalize(), right.normalize());
    let quotient = left.checked_div(right).ok_or(DecimalError::TooManyDigits)?.normalize();
    if multiply(quotient, right)? == left { Ok(unsigned_zero(quotient)) } else { Err(DecimalError::TooManyDigits) }
}

/// Rounds to at most `places` decimals, half away from zero.
pub fn round(number: Decimal, places: u32) -> Decimal {
    unsigned_zero(number.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero))
}

/// Formats with exactly `places` decimals, rounded half away from zero.
pub fn to_fixed(number: Decimal, places: u32) -> String {
    format!("{:.*}", places as usize, round(number, places))
}

/// Removes the decimals of a whole number: 5 for `5.00`. Returns `None` for a fraction.
pub fn to_integer(number: Decimal) -> Option<Decimal> {
    number.is_integer().then(|| unsigned_zero(number.trunc()))
}

pub(super) fn unsigned_zero(number: Decimal) -> Decimal {
    if number.is_zero() { number.abs() } else { number }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::decimal::parse;

    fn decimal(text: &str) -> Decimal {
        parse(text).expect("a decimal")
    }

    #[track_caller]
    fn check(result: Result<Decimal, DecimalError>, expected: &str) {
        assert_eq!(result.map(|number| number.to_string()).as_deref(), Ok(expected));
    }

    #[test]
    fn sums_have_the_decimals_of_the_longer_operand() {
        for (left, right, sum) in [
            ("0.1", "0.2", "0.3"),
            ("1.10", "3", "4.10"),
            ("1.50", "-1.5", "0.00"),
            ("-5", "0.25", "-4.75"),
            ("5", "0.00", "5.00"),
            ("0", "-0.0", "0.0"),
            ("79228162514264337593543950335", "0.00", "79228162514264337593543950335"),
            ("0.00000000000001", "0.000000000000001", "0.000000000000011"),
        ] {
            check(add(decimal(left), decimal(right)), sum);
            check(subtract(decimal(left), -decimal(right)), sum);
        }
        for (left, right) in
            [("79228162514264337593543950335", "1"), ("9999999999999999999999999999", "0.0000000000000000000000000001")]
        {
            assert_eq!(add(decimal(left), decimal(right)), Err(DecimalError::TooManyDigits), "{left} + {right}");
        }
    }

    #[test]
    fn products_are_exact_or_an_error() {
        for (left, right, product) in [
            ("1.10", "3", "3.30"),
            ("1250", "0.01", "12.50"),
            ("-0.01", "0.01", "-0.0001"),
            ("-0.00", "5", "0"),
            ("7922816251426433759354395033", "0.01", "79228162514264337593543950.33"),
            ("0.00", "79228162514264337593543950335", "0"),
        ] {
            check(multiply(decimal(left), decimal(right)), product);
        }
        for (left, right) in [
            ("0.00000000000001", "0.000000000000001"),
            ("1234567890123456789", "1234567890123456789"),
            ("9999999999999999999999999999", "10"),
            ("0.0000000000000000000000000001", "0.1"),
        ] {
            assert_eq!(multiply(decimal(left), decimal(right)), Err(DecimalError::TooManyDigits), "{left} × {right}");
        }
    }

    #[test]
    fn quotients_round_half_away_from_zero() {
        for (left, right, places, quotient) in [
            ("10", "4", 0, "3"),
            ("-10", "4", 0, "-3"),
            ("10", "-3", 2, "-3.33"),
            ("2", "3", 2, "0.67"),
            ("1.50", "0.5", 1, "3.0"),
            ("0", "-7", 2, "0.00"),
            ("-1", "3", 0, "0"),
        ] {
            check(divide(decimal(left), decimal(right), places), quotient);
        }
        let divide = |places| divide(Decimal::ONE, decimal("3"), places);
        assert_eq!(super::divide(Decimal::ONE, decimal("0.00"), 2), Err(DecimalError::DivisionByZero));
        assert_eq!(divide(60), Err(DecimalError::TooManyDigits));
        assert_eq!(divide(u32::MAX), Err(DecimalError::TooManyDigits));
    }

    #[test]
    fn exact_quotients_end_or_are_errors() {
        for (left, right, quotient) in
            [("10", "4", "2.5"), ("-1", "8", "-0.125"), ("0.00", "7", "0"), ("1", "0.0000000001", "10000000000")]
        {
            check(divide_exactly(decimal(left), decimal(right)), quotient);
        }
        for (left, right) in
            [("1", "3"), ("79228162514264337593543950335", "11"), ("1", "79228162514264337593543950335")]
        {
            assert_eq!(divide_exactly(decimal(left), decimal(right)), Err(DecimalError::TooManyDigits));
        }
        assert_eq!(divide_exactly(Decimal::ONE, decimal("0.0")), Err(DecimalError::DivisionByZero));
    }

    #[test]
    fn rounding_goes_away_from_zero_at_the_half() {
        for (number, places, rounded, fixed) in [
            ("1.005", 2, "1.01", "1.01"),
            ("-1.005", 2, "-1.01", "-1.01"),
            ("2.5", 0, "3", "3"),
            ("1.2", 2, "1.2", "1.20"),
            ("-0.4", 0, "0", "0"),
            ("-0.004", 2, "0.00", "0.00"),
            ("9999999999999999999999999999", 2, "9999999999999999999999999999", "9999999999999999999999999999.00"),
        ] {
            assert_eq!(round(decimal(number), places).to_string(), rounded);
            assert_eq!(to_fixed(decimal(number), places), fixed);
        }
    }

    #[test]
    fn whole_numbers_may_have_zeros_after_the_point() {
        for (number, whole) in [("5", "5"), ("5.0", "5"), ("-5.00", "-5"), ("0", "0"), ("-0.0", "0")] {
            assert_eq!(to_integer(decimal(number)).map(|whole| whole.to_string()).as_deref(), Some(whole));
        }
        for fraction in ["5.5", "0.01", "-1.10"] {
            assert_eq!(to_integer(decimal(fraction)), None);
        }
    }

    proptest! {
        #[test]
        fn dividing_a_product_gives_the_factor(left: i32, a in 0_u32..9, right in 1_i32..) {
            let (left, right) = (Decimal::new(left.into(), a), Decimal::from(right));
            prop_assert_eq!(divide(multiply(left, right).expect("few digits"), right, a), Ok(left));
            prop_assert_eq!(divide_exactly(multiply(left, right).expect("few digits"), right), Ok(left.normalize()));
            let error = (divide(left, right, 6).expect("few digits") * right - left).abs();
            prop_assert!(error * Decimal::TWO <= right * Decimal::new(1, 6));
        }
    }
}
