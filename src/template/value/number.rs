//! Numbers as people write them: `1.234,50 €`, `(12)`, `19 %`. Parsing is exact and never guesses.

use super::currency;
use super::locale::{APOSTROPHES, LOCALES, Locale, SPACES, Separators};
use super::normalize::{to_ascii, trim};
use crate::decimal::{self, Decimal, DecimalError};

/// Maximum number of digits, as many as every [`Decimal`] can hold.
const MAX_DIGITS: usize = 28;

/// The meaning of a percent sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percent {
    /// `19%` is sent as 19.
    Whole,
    /// `19%` is sent as 0.19.
    Fraction,
}

/// Why a cell has no valid number. The messages leave out the number itself, so that rows with the same problem can be
/// counted together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    #[error("is not a number")]
    NotANumber,
    /// There is no locale, and the separator could be a decimal or a group separator.
    #[error("could mean more than one number")]
    NeedsLocale,
    /// The separators don't fit the locale.
    #[error("is not a number with '{decimal}' as its decimal separator")]
    Separators { decimal: char },
    /// A percent sign without a meaning in the template.
    #[error("has a percent sign")]
    PercentUnclear,
    #[error("has more than 28 digits")]
    TooLong,
    /// The field takes whole numbers only.
    #[error("is not a whole number")]
    NotWhole,
}

/// Parses `text`: `1.234,50` in a German locale is 1234.50. Decimals are kept, also zeros at the end.
///
/// Accepts one sign before or after the digits, one currency, white space, parentheses for negative numbers, group
/// separators of the locale, and `12,–` for an amount without decimals.
pub(crate) fn parse(text: &str, locale: Option<Locale>, percent: Option<Percent>) -> Result<Decimal, NumberError> {
    let text = to_ascii(trim(text));
    let bare = strip(&text).ok_or(NumberError::NotANumber)?;
    let (whole, fraction) = split(bare.digits, locale)?;
    let number = compose(bare.negative, whole, fraction)?;
    match (bare.percent, percent) {
        (false, _) | (true, Some(Percent::Whole)) => Ok(number),
        (true, Some(Percent::Fraction)) => Ok(multiply(number, Decimal::new(1, 2))?),
        (true, None) => Err(NumberError::PercentUnclear),
    }
}

/// Converts a workbook's number, rounded to 15 significant digits as spreadsheet programs do.
pub(crate) fn from_f64(number: f64) -> Result<Decimal, NumberError> {
    Ok(decimal::from_f64(number)?)
}

/// Converts a workbook's percentage: 0.19 gives the same number as the text `19%`.
pub(crate) fn from_percent(number: f64, percent: Option<Percent>) -> Result<Decimal, NumberError> {
    let number = from_f64(number)?;
    match percent {
        Some(Percent::Whole) => Ok(multiply(number, Decimal::ONE_HUNDRED)?),
        Some(Percent::Fraction) => Ok(number),
        None => Err(NumberError::PercentUnclear),
    }
}

/// Multiplies exactly and removes zeros at the end of the decimals.
pub(crate) fn multiply(number: Decimal, factor: Decimal) -> Result<Decimal, DecimalError> {
    Ok(decimal::multiply(number.normalize(), factor.normalize())?.normalize())
}

impl NumberError {
    /// Returns advice on how to fix the cell or the template.
    pub fn remedy(&self) -> &'static str {
        match self {
            NumberError::NotANumber => "write a number, or leave the cell blank",
            NumberError::NeedsLocale => {
                "set the way this sheet writes numbers in the template: locale = \"de\" or locale = \"en\""
            }
            NumberError::Separators { .. } => {
                "write the number like those in the other rows, or give this field its own locale in the template"
            }
            NumberError::PercentUnclear => {
                "choose in the template what 19% means: percent = \"whole\" sends 19, percent = \"fraction\" sends 0.19"
            }
            NumberError::TooLong => "check the number; more than 28 digits can't be sent exactly",
            NumberError::NotWhole => "write a whole number, or set round = 0 in the template",
        }
    }
}

impl From<DecimalError> for NumberError {
    fn from(error: DecimalError) -> NumberError {
        match error {
            DecimalError::TooManyDigits => NumberError::TooLong,
            DecimalError::NotANumber | DecimalError::DivisionByZero => NumberError::NotANumber,
        }
    }
}

/// A number stripped of sign, currency and percent sign.
struct Bare<'a> {
    digits: &'a str,
    negative: bool,
    percent: bool,
}

/// Strips at most one sign or pair of parentheses, one currency and one percent sign, in any order.
fn strip(text: &str) -> Option<Bare<'_>> {
    let mut digits = text;
    let (mut signed, mut negative, mut money, mut percent) = (false, false, false, false);
    loop {
        digits = trim(digits);
        if let Some(inner) = digits.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
            if signed {
                return None;
            }
            (signed, negative, digits) = (true, true, inner);
        } else if !signed && let Some((minus, rest)) = strip_sign(digits) {
            (signed, negative, digits) = (true, minus, rest);
        } else if !percent && let Some(rest) = digits.strip_suffix('%').or_else(|| digits.strip_prefix('%')) {
            (percent, digits) = (true, rest);
        } else if !money && let Some(rest) = currency::strip_prefix(digits).or_else(|| currency::strip_suffix(digits)) {
            (money, digits) = (true, rest);
        } else {
            return Some(Bare { digits, negative, percent });
        }
    }
}

/// Strips a sign. Returns whether the sign is a minus, and the rest. After a separator, a trailing dash replaces the
/// decimals.
fn strip_sign(text: &str) -> Option<(bool, &str)> {
    const MINUS: &[char] = &['-', '\u{2212}', '\u{2013}'];
    if let Some(rest) = text.strip_prefix(MINUS) {
        return Some((true, rest));
    }
    if let Some(rest) = text.strip_prefix('+') {
        return Some((false, rest));
    }
    let rest = text.strip_suffix(&MINUS[..2])?;
    (!rest.ends_with(['.', ',', '-'])).then_some((true, rest))
}

/// Splits at the decimal separator. Checks the group separators but leaves them in the first part.
fn split(text: &str, locale: Option<Locale>) -> Result<(&str, &str), NumberError> {
    let is_arabic = text.contains(LOCALES.arabic.decimal) || text.contains(LOCALES.arabic.group.as_slice());
    let locale = if is_arabic { Some(&LOCALES.arabic) } else { locale };
    let decimal = locale.map_or('.', |locale| locale.decimal);
    let (whole, fraction) = text.split_once(decimal).map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let whole_is_valid = all_digits(whole) || locale.is_some_and(|locale| is_grouped(whole, locale));
    match fraction {
        None if whole_is_valid => return Ok((whole, "")),
        Some(fraction) if whole_is_valid && all_digits(fraction) => return Ok((whole, fraction)),
        Some("-" | "--" | "\u{2013}" | "\u{2014}") if whole_is_valid && locale.is_some() => return Ok((whole, "")),
        _ => {}
    }
    let is_separator = |c: char| ",.-\u{2013}\u{2014}".contains(c) || SPACES.contains(&c) || APOSTROPHES.contains(&c);
    let numeric = text.contains(|c: char| c.is_ascii_digit())
        && !text.starts_with(is_separator)
        && text.chars().all(|c| c.is_ascii_digit() || is_separator(c));
    Err(match locale {
        _ if !numeric => NumberError::NotANumber,
        None => NumberError::NeedsLocale,
        Some(locale) => NumberError::Separators { decimal: locale.decimal },
    })
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether the digits form groups with the same kind of separator throughout.
fn is_grouped(whole: &str, locale: &Separators) -> bool {
    let Some(separator) = whole.chars().find(|c| !c.is_ascii_digit()) else { return false };
    let of_locale = locale.group.contains(&separator);
    let kind: &[char] = if SPACES.contains(&separator) && (of_locale || separator != ' ') {
        SPACES
    } else if APOSTROPHES.contains(&separator) {
        APOSTROPHES
    } else if of_locale {
        &[separator]
    } else {
        return false;
    };
    let groups: Vec<&str> = whole.split(kind).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return false };
    let all_have = |length: usize| middle.iter().all(|group| group.len() == length);
    groups.iter().all(|group| all_digits(group))
        && last.len() == 3
        && (first.len() <= 3 && all_have(3) || locale.lakh && first.len() <= 2 && all_have(2))
}

fn compose(negative: bool, whole: &str, fraction: &str) -> Result<Decimal, NumberError> {
    let digits: String = whole.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').collect();
    if digits.len() + fraction.len() > MAX_DIGITS {
        return Err(NumberError::TooLong);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    let number = decimal::parse(&format!("0{digits}{point}{fraction}"))?;
    Ok(if negative && !number.is_zero() { -number } else { number })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::prop_assert_eq;

    use super::*;
    use crate::template::value::locale::find;

    #[track_caller]
    fn check(text: &str, locale: &str, expected: Result<&str, NumberError>) {
        let locale = (!locale.is_empty()).then(|| find(locale).expect("a known locale"));
        assert_eq!(parse(text, locale, None).map(|number| number.to_string()), expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn numbers_are_parsed_by_their_locale() {
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
    fn ambiguous_numbers_are_errors() {
        check("1,50", "", Err(NumberError::NeedsLocale));
        check("1,234.50", "", Err(NumberError::NeedsLocale));
        check("12.40", "de", Err(NumberError::Separators { decimal: ',' }));
        check("1,5", "en", Err(NumberError::Separators { decimal: '.' }));
        check("12.5.0", "de", Err(NumberError::Separators { decimal: ',' }));
        check("19%", "de", Err(NumberError::PercentUnclear));
    }

    #[test]
    fn other_texts_are_not_numbers() {
        for text in [
            "auf Anfrage",
            "12,9O",
            "",
            "-",
            "€",
            "1e3",
            "--1",
            "(-1)",
            "-(3)",
            "(3)-",
            "-3-",
            ",5",
            "5,",
            "NaN",
            "0x10",
            "%",
            "EUR",
            "5 EUR EUR",
            "5 %%",
            "12 pcs",
            "()",
            "10+",
            "5--",
        ] {
            for locale in ["de", ""] {
                let locale = (!locale.is_empty()).then(|| find(locale).expect("a known locale"));
                assert!(parse(text, locale, None).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn the_template_defines_the_meaning_of_a_percentage() {
        for (text, whole, fraction) in [
            ("19%", "19", "0.19"),
            ("7 %", "7", "0.07"),
            ("100%", "100", "1"),
            ("0%", "0", "0"),
            ("12.5%", "12.5", "0.125"),
        ] {
            let parsed = |percent| parse(text, None, Some(percent)).map(|number| number.to_string());
            assert_eq!(parsed(Percent::Whole).as_deref(), Ok(whole));
            assert_eq!(parsed(Percent::Fraction).as_deref(), Ok(fraction));
        }
    }

    #[test]
    fn percentages_of_a_workbook_are_like_their_text() {
        for (number, text) in [(0.19, "19%"), (0.07, "7%"), (-0.0, "0%"), (0.125, "12.5%"), (0.1 + 0.2, "30%")] {
            for percent in [None, Some(Percent::Whole), Some(Percent::Fraction)] {
                assert_eq!(from_percent(number, percent), parse(text, None, percent), "{text}");
            }
        }
        assert_eq!(from_percent(1e300, Some(Percent::Whole)), Err(NumberError::TooLong));
    }

    #[test]
    fn signs_currencies_and_groups_are_understood() {
        for text in
            ["1 234,50 €", "1 234,50 EUR", "+1\u{a0}234,50", "EUR 1\u{2009}234,50", "1'234,50", "1\u{2007}234,50"]
        {
            check(text, "fr", Ok("1234.50"));
        }
        for text in [
            "€1.234,50-",
            "1.234,50-",
            "1.234,50 -",
            "1.234,50- €",
            "-1.234,50 zł",
            "−1.234,50",
            "–1.234,50 €",
            "(1.234,50 €)",
            "€ (1.234,50)",
            "-1.234,50 Kč",
            "kr. -1.234,50",
            "\u{200e}-1.234,50\u{a0}kr",
        ] {
            check(text, "de", Ok("-1234.50"));
        }
        for text in ["CHF 1'234.50", "1’234.50 Fr.", "SFr. 1'234.50", "1'234.50 CHF"] {
            check(text, "de-CH", Ok("1234.50"));
        }
        check("CHF 12.–", "de-CH", Ok("12"));
        check("1.234,- €", "de", Ok("1234"));
        check("5,--", "de", Ok("5"));
        check("(1,234.50)", "en", Ok("-1234.50"));
        check("USDT 5", "en", Err(NumberError::NotANumber));
        check("5,-", "", Err(NumberError::NeedsLocale));
        check("1.234 567", "de-AT", Err(NumberError::Separators { decimal: ',' }));
        check("1 234,50", "de", Err(NumberError::Separators { decimal: ',' }));
    }

    #[test]
    fn other_scripts_and_widths_are_understood() {
        check("１，２３４．５０", "ja", Ok("1234.50"));
        check("－￥１２", "", Ok("-12"));
        check("（￥１，２３４）", "ja", Ok("-1234"));
        check("1,234円", "ja", Ok("1234"));
        check("１２．５", "de", Err(NumberError::Separators { decimal: ',' }));
        check("١٢", "", Ok("12"));
        check("١٬٢٣٤٫٥", "de", Ok("1234.5"));
        check("۱۲٫۵", "", Ok("12.5"));
        check("१२", "", Err(NumberError::NotANumber));
    }

    #[test]
    fn lakhs_are_grouped_by_two() {
        for (text, expected) in [
            ("1,23,456.78", "123456.78"),
            ("12,34,56,789", "123456789"),
            ("₹ 1,23,456", "123456"),
            ("1,234", "1234"),
            ("1,234,567", "1234567"),
        ] {
            check(text, "en-IN", Ok(expected));
            check(text, "hi", Ok(expected));
        }
        for text in ["1,23", "123,45,678", "1,2,345", "1,23,4567", "1,23,456,789"] {
            check(text, "en-IN", Err(NumberError::Separators { decimal: '.' }));
        }
        check("1,23,456", "en", Err(NumberError::Separators { decimal: '.' }));
    }

    #[test]
    fn numbers_have_up_to_28_digits() {
        check("-0", "", Ok("0"));
        check("0.1234567890123456789012345678", "", Ok("0.1234567890123456789012345678"));
        check("9999999999999999999999999999", "", Ok("9999999999999999999999999999"));
        check("0.12345678901234567890123456789", "", Err(NumberError::TooLong));
        check("12345678901234567890123456789", "", Err(NumberError::TooLong));
    }

    #[test]
    fn products_have_no_zeros_at_the_end() {
        for (number, factor, product) in
            [("1250", "0.01", "12.5"), ("12.50", "100", "1250"), ("-3", "0.001", "-0.003"), ("-0.00", "5", "0")]
        {
            let decimal = |text| decimal::parse(text).expect("a decimal");
            assert_eq!(
                multiply(decimal(number), decimal(factor)).map(|product| product.to_string()).as_deref(),
                Ok(product)
            );
        }
        assert_eq!(multiply(Decimal::MAX, Decimal::TEN), Err(DecimalError::TooManyDigits));
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_a_json_number_or_an_error(text in "\\PC{0,12}|[-+0-9.,' €%()]{0,14}") {
            for locale in [None, find("de"), find("en"), find("fr"), find("de-CH"), find("hi")] {
                if let Ok(number) = parse(&text, locale, Some(Percent::Fraction)) {
                    prop_assert_eq!(decimal::to_json(number).to_string(), number.to_string());
                }
            }
        }

        #[test]
        fn every_locale_parses_its_own_numbers(digits in "[1-9][0-9]{0,16}|0", fraction in "[0-9]{0,10}", negative: bool, style in 0usize..6) {
            for locale in &LOCALES.separators {
                let point = if fraction.is_empty() { String::new() } else { format!("{}{fraction}", locale.decimal) };
                let unsigned = format!("{}{point}", grouped(&digits, locale));
                let zero = digits == "0" && fraction.bytes().all(|b| b == b'0');
                let written = match (negative, style) {
                    (true, 0) => format!("{unsigned}-"),
                    (true, 1) => format!("({unsigned})"),
                    (true, 2) => format!("\u{2212}{unsigned} EUR"),
                    (true, 3) => format!("-${unsigned}"),
                    (true, _) => format!("-{unsigned}"),
                    (false, 0) => format!("+{unsigned} kr"),
                    (false, 1) => format!("CHF\u{a0}{unsigned}"),
                    (false, 2) => format!(" {unsigned} "),
                    (false, _) => unsigned,
                };
                let sign = if negative && !zero { "-" } else { "" };
                let point = if fraction.is_empty() { "" } else { "." };
                let parsed = parse(&written, Some(locale), None).map(|number| number.to_string());
                prop_assert_eq!(parsed, Ok(format!("{sign}{digits}{point}{fraction}")), "{} {:?}", written, locale.names);
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            for locale in &LOCALES.separators {
                let _ = parse(&text, Some(locale), None);
            }
        }
    }

    fn grouped(digits: &str, locale: &Separators) -> String {
        let (head, tail) = digits.split_at(digits.len().saturating_sub(3));
        let size = if locale.lakh { 2 } else { 3 };
        let mut groups: Vec<&str> =
            head.as_bytes().rchunks(size).rev().map(|part| std::str::from_utf8(part).expect("digits")).collect();
        groups.push(tail);
        groups.join(&locale.group[0].to_string())
    }
}
