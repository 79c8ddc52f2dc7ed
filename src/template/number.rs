//! From a number as people write it to the digits that go into a request, exactly: no value passes through a float.

use super::locale::Locale;
use super::model::Percent;

/// Why a text is not a number that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    NotANumber,
    /// Without a locale, a separator that could be either kind is not guessed.
    NeedsLocale,
    /// The separators stand where this locale has none.
    Separators {
        decimal: char,
    },
    PercentUnclear,
    TooLong,
}

/// The most digits that a number may have: what an exact decimal of 96 bits can hold.
const MAX_DIGITS: usize = 28;

/// Reads `text` into the digits of a JSON number: `1.234,50` in a German locale is `1234.50`.
///
/// Accepted are a sign before the digits, currency signs and white space around them, parentheses for negatives, and
/// group separators where the locale puts them. Trailing zeros of the fraction are kept.
pub fn parse(text: &str, locale: Option<Locale>, percent: Option<Percent>) -> Result<String, Fault> {
    let mut rest = text.trim();
    let mut negative = false;
    if let Some(inner) = rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        negative = true;
        rest = inner.trim();
    }
    rest = strip_currency(rest);
    if let Some(unsigned) = rest.strip_prefix(['-', '\u{2212}']) {
        if negative {
            return Err(Fault::NotANumber);
        }
        negative = true;
        rest = unsigned;
    } else if let Some(unsigned) = rest.strip_prefix('+') {
        rest = unsigned;
    }
    rest = strip_currency(rest);
    let mut shift = 0;
    if let Some(whole) = rest.strip_suffix('%') {
        shift = match percent {
            None => return Err(Fault::PercentUnclear),
            Some(Percent::Whole) => 0,
            Some(Percent::Fraction) => 2,
        };
        rest = whole.trim_end();
    }
    let (whole, fraction) = split(rest, locale)?;
    compose(negative, &whole, fraction, shift)
}

/// The digits of a workbook's binary double. Spreadsheet programs keep 15 digits: the noise past them is dropped.
pub fn from_double(number: f64) -> Result<String, Fault> {
    if !number.is_finite() {
        return Err(Fault::NotANumber);
    }
    let shortest = number.to_string();
    let digits = shortest.bytes().filter(u8::is_ascii_digit).count();
    let clean = if digits > 15 {
        format!("{number:.14e}").parse::<f64>().map_or(shortest, |n| n.to_string())
    } else {
        shortest
    };
    if clean.bytes().filter(u8::is_ascii_digit).count() > MAX_DIGITS {
        return Err(Fault::TooLong);
    }
    Ok(if clean == "-0" { "0".to_owned() } else { clean })
}

/// Rounds plain digits half away from zero, as people do, to `places` decimals.
pub fn round(digits: &str, places: u32) -> String {
    use rust_decimal::{Decimal, RoundingStrategy};
    match Decimal::from_str_exact(digits) {
        Ok(number) => number.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero).to_string(),
        Err(_) => digits.to_owned(),
    }
}

fn strip_currency(text: &str) -> &str {
    const SIGNS: &[char] = &['€', '$', '£', '¥', '￥', '₩', '₹', '₽', '₺', '₫', '฿', '¢'];
    let text = text.trim();
    let text = text.strip_prefix(SIGNS).unwrap_or(text);
    text.strip_suffix(SIGNS).unwrap_or(text).trim()
}

/// The digits before and after the decimal separator, group separators checked and removed.
fn split(text: &str, locale: Option<Locale>) -> Result<(String, &str), Fault> {
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some(locale) = locale else {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        if plain(whole) && plain(fraction) {
            return Ok((whole.to_owned(), text.split_once('.').map_or("", |(_, fraction)| fraction)));
        }
        let numeric = text.bytes().any(|b| b.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || ",.'’ \u{a0}\u{202f}".contains(c));
        return Err(if numeric { Fault::NeedsLocale } else { Fault::NotANumber });
    };
    let (whole, fraction) = match text.split_once(locale.decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let odd = || {
        let numeric = text.bytes().any(|b| b.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || ".,'’ \u{a0}\u{202f}".contains(c));
        if numeric { Fault::Separators { decimal: locale.decimal } } else { Fault::NotANumber }
    };
    if fraction.is_some_and(|fraction| !plain(fraction)) {
        return Err(odd());
    }
    let fraction = fraction.unwrap_or("");
    if plain(whole) {
        return Ok((whole.to_owned(), fraction));
    }
    let mut groups = whole.split(locale.group);
    let first = groups.next().unwrap_or("");
    let grouped = plain(first) && first.len() <= 3 && groups.all(|group| group.len() == 3 && plain(group));
    if !grouped {
        return Err(odd());
    }
    Ok((whole.chars().filter(char::is_ascii_digit).collect(), fraction))
}

fn compose(negative: bool, whole: &str, fraction: &str, shift: usize) -> Result<String, Fault> {
    let mut digits = whole.trim_start_matches('0').to_owned();
    let mut fraction = fraction.to_owned();
    if digits.len() + fraction.len() > MAX_DIGITS {
        return Err(Fault::TooLong);
    }
    if shift > 0 {
        let padded = format!("{digits:0>shift$}");
        let (head, tail) = padded.split_at(padded.len() - shift);
        fraction = format!("{tail}{fraction}").trim_end_matches('0').to_owned();
        digits = head.trim_start_matches('0').to_owned();
    }
    let zero = digits.is_empty() && fraction.bytes().all(|b| b == b'0');
    let mut number = String::with_capacity(digits.len() + fraction.len() + 3);
    if negative && !zero {
        number.push('-');
    }
    number.push_str(if digits.is_empty() { "0" } else { &digits });
    if !fraction.is_empty() {
        number.push('.');
        number.push_str(&fraction);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::locale::find;

    #[track_caller]
    fn check(text: &str, locale: &str, expected: Result<&str, Fault>) {
        let locale = (!locale.is_empty()).then(|| find(locale).expect("a known locale"));
        assert_eq!(parse(text, locale, None), expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn numbers_are_read_as_their_locale_writes_them() {
        check("1.234,50", "de", Ok("1234.50"));
        check("1,234.50", "en-US", Ok("1234.50"));
        check("1\u{202f}234,5", "fr", Ok("1234.5"));
        check("12'345.60", "de-CH", Ok("12345.60"));
        check("1.234", "de", Ok("1234"));
        check("0,5", "de", Ok("0.5"));
        check(" 12,50 € ", "de", Ok("12.50"));
        check("€ -12,50", "de", Ok("-12.50"));
        check("(3.50)", "en", Ok("-3.50"));
        check("-0,00", "de", Ok("0.00"));
        check("007", "", Ok("7"));
        check("12.40", "", Ok("12.40"));
    }

    #[test]
    fn what_could_mean_two_things_is_not_guessed() {
        check("1,50", "", Err(Fault::NeedsLocale));
        check("1,234.50", "", Err(Fault::NeedsLocale));
        check("12.40", "de", Err(Fault::Separators { decimal: ',' }));
        check("1,5", "en", Err(Fault::Separators { decimal: '.' }));
        check("12.5.0", "de", Err(Fault::Separators { decimal: ',' }));
        check("19%", "de", Err(Fault::PercentUnclear));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in
            ["auf Anfrage", "12,9O", "5,00-", "", "-", "€", "1e3", "١٢", "--1", "(-1)", ",5", "5,", "NaN", "0x10"]
        {
            for locale in ["de", ""] {
                let locale = (!locale.is_empty()).then(|| find(locale).expect("a known locale"));
                assert!(parse(text, locale, None).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn a_percentage_is_sent_as_the_template_says() {
        for (text, whole, fraction) in [
            ("19%", "19", "0.19"),
            ("7 %", "7", "0.07"),
            ("100%", "100", "1"),
            ("0%", "0", "0"),
            ("12.5%", "12.5", "0.125"),
        ] {
            assert_eq!(parse(text, None, Some(Percent::Whole)).as_deref(), Ok(whole));
            assert_eq!(parse(text, None, Some(Percent::Fraction)).as_deref(), Ok(fraction));
        }
    }

    #[test]
    fn doubles_become_the_digits_that_the_spreadsheet_showed() {
        for (number, digits) in
            [(0.1 + 0.2, "0.3"), (1234.5, "1234.5"), (-0.0, "0"), (19.0, "19"), (1e15, "1000000000000000")]
        {
            assert_eq!(from_double(number).as_deref(), Ok(digits));
        }
        assert_eq!(from_double(f64::NAN), Err(Fault::NotANumber));
        assert_eq!(from_double(1e300), Err(Fault::TooLong));
    }

    #[test]
    fn rounding_goes_away_from_zero_at_the_half() {
        for (digits, places, rounded) in
            [("1.005", 2, "1.01"), ("-1.005", 2, "-1.01"), ("2.5", 0, "3"), ("1.2", 2, "1.2")]
        {
            assert_eq!(round(digits, places), rounded);
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_a_json_number_or_a_fault(text in "\\PC{0,12}|[-+0-9.,' €%()]{0,14}") {
            for locale in [None, find("de"), find("en"), find("fr"), find("de-CH")] {
                if let Ok(digits) = parse(&text, locale, Some(Percent::Fraction)) {
                    let number: serde_json::Number = serde_json::from_str(&digits).expect("a JSON number");
                    proptest::prop_assert_eq!(number.to_string(), digits);
                }
            }
        }

        #[test]
        fn german_and_english_digits_mean_the_same(whole in 0u64..10_000_000_000, cents in 0u8..100) {
            let grouped = |separator: &str| {
                let digits = whole.to_string();
                let parts: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).expect("digits")).collect();
                parts.join(separator)
            };
            let expected = format!("{whole}.{cents:02}");
            proptest::prop_assert_eq!(parse(&format!("{},{cents:02}", grouped(".")), find("de"), None), Ok(expected.clone()));
            proptest::prop_assert_eq!(parse(&format!("{}.{cents:02}", grouped(",")), find("en"), None), Ok(expected));
        }
    }
}
