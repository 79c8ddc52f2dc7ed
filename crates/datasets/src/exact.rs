//! Numbers in JSON notation with all digits.

use crate::kind::MAX_DIGITS;

/// Digits that 64 bits hold in any case.
const SHORT: usize = 18;

/// A number: `mantissa / 10^scale`, with at most 38 digits and 38 decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    mantissa: i128,
    scale: u8,
}

impl Exact {
    /// Parses a number such as `-12.50` or `1.5e3`. Keeps zeros at the end, as long as there is room. Returns `None` if the digits have
    /// no room.
    pub(crate) fn parse(text: &str) -> Option<Exact> {
        let (is_negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (number, exponent) = match rest.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        // Nearly all numbers: 128 bits are ten times as slow.
        if exponent == 0 && whole.len() + fraction.len() <= SHORT {
            let digits = whole.bytes().chain(fraction.bytes());
            let mantissa = digits.fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
            let mantissa = i128::from(if is_negative { -mantissa } else { mantissa });
            return Some(Exact { mantissa, scale: u8::try_from(fraction.len()).ok()? });
        }
        let mut scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let mut zeros: i64 = 0;
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            if digit == b'0' && mantissa != 0 {
                // Zeros at the end may need no room.
                zeros += 1;
                continue;
            }
            if digit == b'0' {
                continue;
            }
            mantissa = times_ten(mantissa, zeros + 1)?.checked_add(i128::from(digit - b'0'))?;
            zeros = 0;
        }
        if mantissa == 0 {
            let scale = u8::try_from(scale.clamp(0, i64::from(MAX_DIGITS))).ok()?;
            return Some(Exact { mantissa, scale });
        }
        // As many of the zeros as there is room for.
        let kept = zeros.min(i64::from(MAX_DIGITS) - i64::from(digits_of(mantissa))).max(0);
        let dropped = zeros - kept;
        let (mut kept, dropped) = (kept, dropped);
        scale -= dropped;
        while scale > i64::from(MAX_DIGITS) && kept > 0 {
            (scale, kept) = (scale - 1, kept - 1);
        }
        mantissa = times_ten(mantissa, kept)?;
        if scale < 0 {
            mantissa = times_ten(mantissa, -scale)?;
            scale = 0;
        }
        let scale = u8::try_from(scale).ok().filter(|scale| *scale <= MAX_DIGITS)?;
        let mantissa = if is_negative { -mantissa } else { mantissa };
        (digits_of(mantissa) <= MAX_DIGITS).then_some(Exact { mantissa, scale })
    }

    /// Returns the number of decimals.
    pub(crate) fn scale(self) -> u8 {
        self.scale
    }

    /// Returns the number of digits before the decimal point.
    pub(crate) fn whole_digits(self) -> u8 {
        digits_of(self.mantissa).saturating_sub(self.scale)
    }

    /// Returns the mantissa with this many decimals, or `None` if digits would be lost.
    pub(crate) fn with_scale(self, scale: u8) -> Option<i128> {
        match scale.checked_sub(self.scale) {
            Some(more) => times_ten(self.mantissa, i64::from(more)),
            None => {
                let less = u32::from(self.scale - scale);
                if let (Ok(mantissa), Some(power)) = (i64::try_from(self.mantissa), 10_i64.checked_pow(less)) {
                    return (mantissa % power == 0).then_some(i128::from(mantissa / power));
                }
                let power = 10_i128.checked_pow(less)?;
                (self.mantissa % power == 0).then_some(self.mantissa / power)
            }
        }
    }

    /// Returns the whole number, or `None` for a fraction and for a number beyond 64 bits.
    pub(crate) fn to_integer(self) -> Option<i64> {
        i64::try_from(self.with_scale(0)?).ok()
    }

    /// Returns the number of digits without zeros at either end.
    pub(crate) fn significant_digits(self) -> u8 {
        let mut mantissa = self.mantissa;
        while mantissa != 0 && mantissa % 10 == 0 {
            mantissa /= 10;
        }
        digits_of(mantissa)
    }
}

fn times_ten(number: i128, times: i64) -> Option<i128> {
    number.checked_mul(10_i128.checked_pow(u32::try_from(times).ok()?)?)
}

fn digits_of(number: i128) -> u8 {
    number.unsigned_abs().checked_ilog10().map_or(1, |log| u8::try_from(log + 1).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    fn parts(text: &str) -> Option<(i128, u8)> {
        Exact::parse(text).map(|exact| (exact.mantissa, exact.scale))
    }

    #[test]
    fn numbers_keep_all_digits() {
        let nines = "9".repeat(38);
        for (text, expected) in [
            ("0", Some((0, 0))),
            ("-0.00", Some((0, 2))),
            ("12.50", Some((1_250, 2))),
            ("-12.50", Some((-1_250, 2))),
            ("1e3", Some((1_000, 0))),
            ("1.5E-3", Some((15, 4))),
            ("1.50e1", Some((150, 1))),
            ("100e-1", Some((100, 1))),
            ("0.1e400", None),
            ("0e400", Some((0, 0))),
            ("1e-39", None),
            ("10e-39", Some((1, 38))),
            (&nines, nines.parse().ok().map(|number| (number, 0))),
            (&format!("{nines}.0"), nines.parse().ok().map(|number| (number, 0))),
            (&format!("{nines}9"), None),
            (&format!("{nines}.5"), None),
            ("123456789012345678", Some((123_456_789_012_345_678, 0))),
            ("-1234567890123456.789", Some((-1_234_567_890_123_456_789, 3))),
            ("1.", Some((1, 0))),
            (".5", None),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn other_scales_lose_no_digit() {
        let exact = Exact::parse("12.50");
        assert_eq!(exact.and_then(|exact| exact.with_scale(4)), Some(125_000));
        assert_eq!(exact.and_then(|exact| exact.with_scale(1)), Some(125));
        assert_eq!(exact.and_then(|exact| exact.with_scale(0)), None);
        assert_eq!(exact.map(Exact::whole_digits), Some(2));
        assert_eq!(exact.map(Exact::significant_digits), Some(3));
        assert_eq!(Exact::parse("5.0").and_then(Exact::to_integer), Some(5));
        assert_eq!(
            Exact::parse("5000000000000000000.000").and_then(|exact| exact.with_scale(1)),
            Some(50_000_000_000_000_000_000)
        );
        assert_eq!(Exact::parse("5000000000000000000.001").and_then(|exact| exact.with_scale(1)), None);
        assert_eq!(Exact::parse("9223372036854775808").and_then(Exact::to_integer), None);
    }

    proptest! {
        #[test]
        fn any_number_is_read_as_written(mantissa: i64, scale in 0_u32..20) {
            let text = format!("{mantissa}e-{scale}");
            let exact = Exact::parse(&text).map(|exact| (exact.mantissa, u32::from(exact.scale)));
            prop_assert_eq!(exact, Some((i128::from(mantissa), scale)));
        }
    }
}
