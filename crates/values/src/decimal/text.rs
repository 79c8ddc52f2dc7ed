//! Decimals from and to text, JSON and doubles.

use rust_decimal::Decimal;
use serde_json::Number;

use super::arithmetic::{multiply, unsigned_zero};
use super::error::DecimalError;

/// Limit of exponents, far beyond any number of digits.
const MAX_EXPONENT: i64 = 1 << 40;

/// The maximum number of decimals of a [`Decimal`].
const MAX_SCALE: i64 = 28;

/// Parses a number in JSON notation, such as `-12.50` or `1.5e3`. Decimals are kept (`1.50` has two); `-0` becomes `0`,
/// and leading zeros are allowed.
pub fn parse(text: &str) -> Result<Decimal, DecimalError> {
    match short_digits(text) {
        Some((digits, None)) => return Ok(Decimal::new(digits, 0)),
        Some((digits, Some((at, b'.')))) => return Ok(Decimal::new(digits, decimals_behind(text, at))),
        _ => {}
    }
    let literal = Literal::parse(text).ok_or(DecimalError::NotANumber)?;
    let mut number = literal.mantissa()?;
    let scale = i64::from(number.scale()) - literal.exponent;
    if number.is_zero() && literal.exponent != 0 {
        number = Decimal::ZERO;
    } else if let Ok(scale) = u32::try_from(scale) {
        number.set_scale(scale).map_err(|_| DecimalError::TooManyDigits)?;
    } else {
        let zeros = u32::try_from(-scale).map_err(|_| DecimalError::TooManyDigits)?;
        let power = 10_i128.checked_pow(zeros).and_then(|power| Decimal::try_from_i128_with_scale(power, 0).ok());
        number.set_scale(0).map_err(|_| DecimalError::TooManyDigits)?;
        number = multiply(number, power.ok_or(DecimalError::TooManyDigits)?)?;
    }
    Ok(unsigned_zero(number))
}

/// Returns the digits of a text as a number, and the place of the only point or comma among them: most numbers consist of a few digits.
/// `None` for any other text, and for one that begins or ends with the separator.
pub(crate) fn short_digits(text: &str) -> Option<(i64, Option<(usize, u8)>)> {
    /// As many digits as every `i64` can hold.
    const MAX_BYTES: usize = 18;
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    let (mut digits, mut separator) = (0_i64, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + i64::from(byte - b'0'),
            b'.' | b',' if separator.is_none() && at > 0 && at + 1 < text.len() => separator = Some((at, byte)),
            _ => return None,
        }
    }
    Some((digits, separator))
}

/// Returns the number of decimals of a short text behind a separator.
pub(crate) fn decimals_behind(text: &str, separator: usize) -> u32 {
    (text.len() - separator - 1) as u32
}

/// Parses like [`parse`], but rounds decimals that do not fit into 28 digits, half away from zero. Fails only for numbers that are
/// too large.
pub fn parse_rounded(text: &str) -> Result<Decimal, DecimalError> {
    match parse(text) {
        Err(DecimalError::TooManyDigits) => {}
        parsed => return parsed,
    }
    let literal = Literal::parse(text).ok_or(DecimalError::NotANumber)?;
    let digits: Vec<u8> = literal.whole.bytes().chain(literal.fraction.bytes()).collect();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = &digits[zeros..];
    // The number of digits before the decimal point; negative for zeros behind it.
    let whole = literal.whole.len() as i64 + literal.exponent - zeros as i64;
    let scale = (MAX_SCALE - whole.max(0)).max(0);
    let kept = match usize::try_from(whole + scale) {
        Ok(kept) if whole <= MAX_SCALE + 1 => kept,
        Ok(_) => return Err(DecimalError::TooManyDigits),
        Err(_) => return Ok(Decimal::ZERO),
    };
    let digit = |index: usize| i128::from(digits.get(index).map_or(0, |digit| digit - b'0'));
    let size = (0..kept).fold(0, |size: i128, index| size * 10 + digit(index)) + i128::from(digit(kept) >= 5);
    let scale = u32::try_from(scale).map_err(|_| DecimalError::TooManyDigits)?;
    let mantissa = if literal.is_negative { -size } else { size };
    Decimal::try_from_i128_with_scale(mantissa, scale).map(unsigned_zero).map_err(|_| DecimalError::TooManyDigits)
}

/// Writes out the exponent of a JSON number like [`plain`], with up to 400 decimals: every double has fewer in its shortest
/// notation. Fails for numbers that are too large.
pub fn written_out(number: &Number) -> Result<Number, DecimalError> {
    const MAX_DECIMALS: i64 = 400;
    if let Ok(plain) = plain(number) {
        return Ok(plain);
    }
    parse_rounded(number.as_str())?;
    let literal = Literal::parse(number.as_str()).ok_or(DecimalError::NotANumber)?;
    if literal.fraction.len() as i64 - literal.exponent > MAX_DECIMALS {
        return Err(DecimalError::TooManyDecimals);
    }
    let digits = format!("{}{}", literal.whole, literal.fraction);
    let point = literal.whole.len() as i64 + literal.exponent;
    let sign = if literal.is_negative { "-" } else { "" };
    let text = match usize::try_from(point) {
        Ok(0) | Err(_) => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        Ok(point) if point < digits.len() => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
        Ok(point) => format!("{sign}{digits}{}", "0".repeat(point - digits.len())),
    };
    text.parse().map_err(|_| DecimalError::NotANumber)
}

/// Writes out the exponent of a JSON number: `1.50e2` becomes `150`. The digits of other numbers are unchanged. Fails if
/// the number has too many digits for a [`Decimal`].
pub fn plain(number: &Number) -> Result<Number, DecimalError> {
    let decimal = parse(number.as_str())?;
    Ok(if number.as_str().contains(['e', 'E']) { to_json(decimal) } else { number.clone() })
}

/// Converts to a JSON number with all digits.
pub fn to_json(number: Decimal) -> Number {
    number.to_string().parse().expect("a decimal without exponent is a JSON number")
}

/// Appends a number with all its decimals, as its `Display` does. Formatting goes through several copies, and sheets have millions of
/// numbers.
pub fn write(number: Decimal, out: &mut String) {
    /// As many digits as a `u64` has, and a point.
    const MAX_BYTES: usize = 21;
    let scale = number.scale() as usize;
    let mut rest = match u64::try_from(number.mantissa()) {
        Ok(mantissa) if scale < MAX_BYTES - 1 && !number.is_sign_negative() => mantissa,
        _ => {
            out.push_str(&number.to_string());
            return;
        }
    };
    let mut text = [b'0'; MAX_BYTES];
    let (mut start, mut decimals) = (MAX_BYTES, 0);
    while rest > 0 || decimals <= scale {
        if decimals == scale && scale > 0 {
            start -= 1;
            text[start] = b'.';
        }
        start -= 1;
        text[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        decimals += 1;
    }
    out.push_str(std::str::from_utf8(&text[start..]).expect("digits are ASCII"));
}

/// Returns the nearest double.
pub fn to_f64(number: Decimal) -> f64 {
    /// The powers of ten that are exact doubles, of which decimals have the first few.
    const POWERS: [f64; 9] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
    const EXACT: i64 = 1 << 53;
    match (POWERS.get(number.scale() as usize), i64::try_from(number.mantissa())) {
        // The quotient of two exact doubles is the nearest one.
        (Some(power), Ok(mantissa)) if (-EXACT..=EXACT).contains(&mantissa) => mantissa as f64 / power,
        // Decimals of up to 28 digits are finite doubles.
        _ => number.to_string().parse().unwrap_or(f64::NAN),
    }
}

/// Formats a fraction as a percentage by moving the decimal point, which is exact for every number.
pub fn percentage(fraction: Decimal) -> String {
    let fraction = fraction.normalize();
    match fraction.scale().checked_sub(2) {
        Some(scale) => format!("{}%", Decimal::from_i128_with_scale(fraction.mantissa(), scale)),
        None if fraction.is_zero() => "0%".to_owned(),
        None => format!("{}{}%", fraction.mantissa(), if fraction.scale() == 1 { "0" } else { "00" }),
    }
}

/// Rounds a double to 15 significant digits, as spreadsheet programs do: 0.3 for `0.1 + 0.2`. Fails for infinity, NaN, and
/// numbers with more than 28 digits in plain notation.
pub fn from_f64(number: f64) -> Result<Decimal, DecimalError> {
    if !number.is_finite() {
        return Err(DecimalError::NotANumber);
    }
    if let Some(short) = with_few_decimals(number) {
        return Ok(short);
    }
    with_15_digits(number)
}

fn with_15_digits(number: f64) -> Result<Decimal, DecimalError> {
    let rounded = format!("{number:.14e}");
    let (mantissa, exponent) = rounded.split_once('e').ok_or(DecimalError::NotANumber)?;
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    parse(&format!("{mantissa}e{exponent}"))
}

/// Returns a number of at most 15 digits and few decimals, which most cells of workbooks have. A decimal of 15 digits whose
/// nearest double is this one is the number rounded to 15 digits.
fn with_few_decimals(number: f64) -> Option<Decimal> {
    const MAX_DECIMALS: u32 = 4;
    const END: f64 = 1e15;
    let mut power = 1.0;
    for decimals in 0..=MAX_DECIMALS {
        let digits = (number * power).round();
        if digits == 0.0 || digits.abs() >= END {
            return None;
        }
        if digits / power == number {
            return Some(Decimal::new(digits as i64, decimals));
        }
        power *= 10.0;
    }
    None
}

/// Returns the canonical text of a JSON number of any length: equal numbers have equal texts (`15e-1` for `1.5`, `1.50`
/// and `0.15e1`). Returns `None` for other texts and for absurd exponents.
pub fn canonical(number: &str) -> Option<String> {
    let literal = Literal::parse(number)?;
    if literal.exponent.abs() == MAX_EXPONENT {
        return None;
    }
    let digits = format!("{}{}", literal.whole, literal.fraction);
    let significant = digits.trim_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let sign = if literal.is_negative { "-" } else { "" };
    Some(format!("{sign}{significant}e{}", literal.lowest_power()))
}

/// Returns whether a JSON number of any length has no fraction, as `5`, `5.0` and `1.5e1`.
pub fn is_whole(number: &str) -> bool {
    Literal::parse(number).is_some_and(|literal| literal.is_zero() || literal.lowest_power() >= 0)
}

/// The parts of a JSON number.
struct Literal<'a> {
    is_negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Literal<'a> {
    fn parse(text: &'a str) -> Option<Literal<'a>> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, mut rest) = split_digits(unsigned)?;
        let (mut fraction, mut exponent) = ("", 0);
        if let Some(decimals) = rest.strip_prefix('.') {
            (fraction, rest) = split_digits(decimals)?;
        }
        if let Some(power) = rest.strip_prefix(['e', 'E']) {
            let (digits, behind) = split_digits(power.strip_prefix(['-', '+']).unwrap_or(power))?;
            let size = digits.parse().map_or(MAX_EXPONENT, |size: i64| size.min(MAX_EXPONENT));
            (exponent, rest) = (if power.starts_with('-') { -size } else { size }, behind);
        }
        rest.is_empty().then_some(Literal { is_negative: unsigned.len() < text.len(), whole, fraction, exponent })
    }

    /// Returns the number without its exponent, with all decimals.
    fn mantissa(&self) -> Result<Decimal, DecimalError> {
        const MAX_DIGITS_OF_I128: usize = 38;
        let whole = self.whole.trim_start_matches('0');
        if whole.len() + self.fraction.len() > MAX_DIGITS_OF_I128 {
            return Err(DecimalError::TooManyDigits);
        }
        let digits = whole.bytes().chain(self.fraction.bytes());
        let size = digits.fold(0, |size: i128, digit| size * 10 + i128::from(digit - b'0'));
        let scale = u32::try_from(self.fraction.len()).map_err(|_| DecimalError::TooManyDigits)?;
        let mantissa = if self.is_negative { -size } else { size };
        Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| DecimalError::TooManyDigits)
    }

    fn is_zero(&self) -> bool {
        self.whole.bytes().chain(self.fraction.bytes()).all(|digit| digit == b'0')
    }

    /// The power of ten of the last nonzero digit.
    fn lowest_power(&self) -> i64 {
        let fraction = self.fraction.trim_end_matches('0');
        let power = match fraction.len() {
            0 => self.whole.len() - self.whole.trim_end_matches('0').len(),
            decimals => return self.exponent - decimals as i64,
        };
        self.exponent + power as i64
    }
}

/// Splits a text behind its first digits. Returns `None` for a text that does not begin with a digit.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    if len == 0 { None } else { Some(text.split_at(len)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    fn parsed(text: &str) -> Result<String, DecimalError> {
        parse(text).map(|number| number.to_string())
    }

    #[test]
    fn digits_and_decimals_are_kept() {
        for same in
            ["0", "0.00", "1234.50", "0.10", "-3", "79228162514264337593543950335", "0.0000000000000000000000000001"]
        {
            assert_eq!(parsed(same).as_deref(), Ok(same));
        }
        for (text, number) in [("-0", "0"), ("-0.00", "0.00"), ("007", "7")] {
            assert_eq!(parsed(text).as_deref(), Ok(number));
        }
    }

    proptest! {
        #[test]
        fn numbers_are_written_and_converted_as_by_the_library(mantissa in any::<i64>(), shift in 0_u32..64, scale in 0_u32..=28) {
            let number = Decimal::new(mantissa >> shift, scale);
            let mut text = "=".to_owned();
            write(number, &mut text);
            prop_assert_eq!(&text, &format!("={number}"));
            prop_assert_eq!(to_f64(number), number.to_string().parse::<f64>().expect("a double"));
        }
    }

    #[test]
    fn exponents_are_written_out() {
        for (text, number) in [
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("1.50e1", "15.0"),
            ("1.50e2", "150"),
            ("-1.5e-2", "-0.015"),
            ("0.05e2", "5"),
            ("12e-28", "0.0000000000000000000000000012"),
            ("0e5", "0"),
            ("0e-99999", "0"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(number), "{text}");
        }
        let plain = |text: &str| plain(&serde_json::from_str(text).expect("JSON")).map(|number| number.to_string());
        assert_eq!(plain("1.50e2").as_deref(), Ok("150"));
        assert_eq!(plain("-0").as_deref(), Ok("-0"));
        assert_eq!(plain("1e29"), Err(DecimalError::TooManyDigits));
    }

    #[test]
    fn oversized_numbers_and_other_texts_are_refused() {
        for text in [
            "79228162514264337593543950336",
            "0.12345678901234567890123456789",
            "1e29",
            "1e-29",
            "1e999999999999999999999",
            "1e-999999999999999999999",
            &"9".repeat(5000),
        ] {
            assert_eq!(parsed(text), Err(DecimalError::TooManyDigits), "{text}");
        }
        for text in ["", "-", "+1", ".5", "5.", "1_000", "1e", "1e+", "e5", "1.2.3", "--1", " 1", "NaN", "0x10", "１"]
        {
            assert_eq!(parsed(text), Err(DecimalError::NotANumber), "{text}");
        }
    }

    #[test]
    fn doubles_have_fifteen_digits() {
        for (number, digits) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (1.1 * 1.1, "1.21"),
            (12.5, "12.5"),
            (-1e15, "-1000000000000000"),
            (123_456_789_012_345_680.0, "123456789012346000"),
            (1e-7, "0.0000001"),
        ] {
            assert_eq!(from_f64(number).map(|number| number.to_string()).as_deref(), Ok(digits));
        }
        assert_eq!(from_f64(f64::NAN), Err(DecimalError::NotANumber));
        assert_eq!(from_f64(f64::INFINITY), Err(DecimalError::NotANumber));
        assert_eq!(from_f64(1e300), Err(DecimalError::TooManyDigits));
    }

    #[test]
    fn equal_numbers_have_the_same_canonical_text() {
        for equal in [
            &["1.50", "1.5", "15e-1", "0.15E+1", "01.5", "0.000015e5"][..],
            &["0", "-0", "0.00", "0e7"],
            &["100", "1e2", "1.00e2", "100.0"],
            &["-12345678901234567890123456789012345.10", "-12345678901234567890123456789012345.1"],
        ] {
            assert!(equal.iter().all(|number| canonical(number) == canonical(equal[0])), "{equal:?}");
        }
        let different = ["1.5", "1.50000000000000000000000000000001", "15", "-1.5", "0", "1e7"];
        for (place, number) in different.iter().enumerate() {
            assert!(different[..place].iter().all(|other| canonical(other) != canonical(number)), "{number}");
        }
        for none in ["", "[1]", "null", "\"1\"", "1e99999999999999999999"] {
            assert_eq!(canonical(none), None, "{none}");
        }
    }

    #[test]
    fn whole_numbers_are_recognized_in_any_notation() {
        for whole in ["0", "-7", "5.0", "1.50e1", "15e0", "20e-1", "0e-9", "0.00", "1e999999999999999999999"] {
            assert!(is_whole(whole), "{whole}");
        }
        for fraction in ["0.5", "-1.01", "15e-1", "1e-999999999999999999999", "1.25e1"] {
            assert!(!is_whole(fraction), "{fraction}");
        }
    }

    proptest! {
        #[test]
        fn doubles_with_few_decimals_equal_their_15_digit_rounding(digits in -9_999_999_999_999_999_i64..=9_999_999_999_999_999, decimals in 0_i32..9) {
            let number: f64 = format!("{digits}e-{decimals}").parse().expect("a number");
            let expected = with_15_digits(number).map(|number| number.to_string());
            prop_assert_eq!(from_f64(number).map(|number| number.to_string()), expected);
        }

        #[test]
        fn any_double_is_rounded_to_15_digits(number in any::<f64>()) {
            let expected = with_15_digits(number).map(|number| number.to_string());
            prop_assert_eq!(from_f64(number).map(|number| number.to_string()).ok(), expected.ok());
        }

        #[test]
        fn an_exponent_moves_the_point(digits in 0_i64..1_000_000_000, scale in 0_u32..9, exponent in -9_i32..9) {
            let mantissa = Decimal::new(digits, scale);
            let moved = parse(&format!("{mantissa}e{exponent}")).expect("few digits");
            let power = parse(&format!("1e{exponent}")).expect("few digits");
            prop_assert_eq!(moved, mantissa * power);
        }

        #[test]
        fn canonical_texts_are_equal_for_equal_decimals(left: i64, a in 0_u32..12, right: i64, b in 0_u32..12, near in any::<bool>()) {
            let left = Decimal::new(left, a);
            let right = if near { left + Decimal::new(right.signum(), b) } else { Decimal::new(right, b) };
            prop_assert_eq!(canonical(&left.to_string()) == canonical(&right.to_string()), left == right);
            prop_assert_eq!(canonical(&left.to_string()), canonical(&left.normalize().to_string()));
            prop_assert_eq!(is_whole(&left.to_string()), left.is_integer());
        }

        #[test]
        fn every_text_is_a_json_number_or_an_error(text in "\\PC{0,12}|[-+0-9.eE]{0,14}") {
            if let Ok(number) = parse(&text) {
                prop_assert_eq!(parse(to_json(number).as_str()), Ok(number));
            }
        }
    }

    #[test]
    fn long_numbers_are_written_out_exactly_and_rounded_for_arithmetic() {
        for (text, exact, rounded) in [
            ("5.551115123125783e-17", "0.00000000000000005551115123125783", "0.0000000000000000555111512313"),
            ("-5e-29", "-0.00000000000000000000000000005", "-0.0000000000000000000000000001"),
            ("4.9e-29", "0.000000000000000000000000000049", "0"),
            ("5e-324", &format!("0.{}5", "0".repeat(323)), "0"),
            ("0.30000000000000000000000000000000001", "0.30000000000000000000000000000000001", "0.3"),
            ("1234567.000000000000000055511151", "1234567.000000000000000055511151", "1234567.000000000000000055511"),
            ("12345678901234567890123456789.75", "12345678901234567890123456789.75", "12345678901234567890123456790"),
            ("1.5e3", "1500", "1500"),
            ("1.50", "1.50", "1.50"),
        ] {
            let number: Number = text.parse().expect("a number");
            assert_eq!(written_out(&number).map(|number| number.to_string()).as_deref(), Ok(exact), "{text}");
            let expected = parse(rounded).expect("a decimal");
            assert_eq!(parse_rounded(text), Ok(expected), "{text}");
        }
        for (text, error) in [
            ("1e40", DecimalError::TooManyDigits),
            ("79228162514264337593543950336", DecimalError::TooManyDigits),
            ("1e-401", DecimalError::TooManyDecimals),
            ("1e-99999999999999999999", DecimalError::TooManyDecimals),
        ] {
            assert_eq!(written_out(&text.parse().expect("a number")), Err(error), "{text}");
        }
    }
}
