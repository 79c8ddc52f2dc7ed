//! Parsing of numbers.

use super::error::NumberError;
use super::shape::{Mark, Shape, TwoReadings, is_numeric, is_written_in};
use super::strip::{Bare, strip};
use super::style::ColumnStyle;
use crate::currency::CurrencyMark;
use crate::decimal::{self, Decimal, DecimalError};
use crate::locale::Locale;

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

/// How the separators of a text are read.
#[derive(Clone, Copy, Debug)]
pub enum Notation<'a> {
    /// By the other cells of the column, and by the locale if the template has one.
    Column { locale: Option<Locale>, style: &'a ColumnStyle },
    /// With a decimal point and without groups, as Sheetport itself writes the numbers of workbooks.
    Canonical,
}

/// A number with its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedNumber {
    /// The digits as written: 19 for `19 %`.
    pub number: Decimal,
    pub has_percent_sign: bool,
    pub currency: Option<CurrencyMark>,
}

impl ParsedNumber {
    /// Returns the number with the template's meaning of percent signs.
    pub fn resolve(self, percent: Option<Percent>) -> Result<Decimal, NumberError> {
        match (self.has_percent_sign, percent) {
            (false, _) | (true, Some(Percent::Whole)) => Ok(self.number),
            (true, Some(Percent::Fraction)) => Ok(multiply(self.number, Decimal::new(1, 2))?),
            (true, None) => Err(NumberError::PercentUnclear),
        }
    }
}

/// Parses a number of a locale. Without a locale, numbers with two readings are refused.
pub fn parse(text: &str, locale: Option<Locale>, percent: Option<Percent>) -> Result<Decimal, NumberError> {
    parse_in(text, Notation::Column { locale, style: &ColumnStyle::UNKNOWN })?.resolve(percent)
}

/// Parses `text`: `1.234,50` in a German locale is 1234.50. Keeps all decimals, including trailing zeros.
///
/// Accepts one sign before or after the digits, one currency, white space, parentheses for negative numbers, group separators,
/// `12,–` and `199:-` for amounts without decimals, `.5`, and ` $-   ` for zero.
pub fn parse_in(text: &str, notation: Notation<'_>) -> Result<ParsedNumber, NumberError> {
    if let Some(number) = plain(text, notation) {
        return Ok(ParsedNumber { number, has_percent_sign: false, currency: None });
    }
    let bare = strip(text).ok_or(NumberError::NotANumber)?;
    let (whole, fraction) = if bare.is_zero_of_accounting() { ("", "") } else { split(&bare, notation)? };
    let number = compose(bare.negative, whole, fraction)?;
    Ok(ParsedNumber { number, has_percent_sign: bare.percent, currency: bare.currency })
}

/// Parses digits with at most one separator and two decimals, as most cells have them. Returns `None` for any other text, and where the
/// notation has another separator.
fn plain(text: &str, notation: Notation<'_>) -> Option<Decimal> {
    const MAX_DECIMALS: u32 = 2;
    let (digits, separator) = decimal::short_digits(text)?;
    let Some((at, separator)) = separator else { return Some(Decimal::new(digits, 0)) };
    let (decimals, mark) = (decimal::decimals_behind(text, at), Mark::of(char::from(separator)));
    let is_usual = match notation {
        Notation::Canonical => mark == Some(Mark::Point),
        Notation::Column { locale, .. } => locale.is_none_or(|locale| Mark::of(locale.decimal) == mark),
    };
    (is_usual && decimals <= MAX_DECIMALS).then(|| Decimal::new(digits, decimals))
}

/// Converts a workbook's number, rounded to 15 significant digits as spreadsheet programs do.
pub fn from_f64(number: f64) -> Result<Decimal, NumberError> {
    Ok(decimal::from_f64(number)?)
}

/// Multiplies exactly and removes zeros at the end of the decimals.
pub fn multiply(number: Decimal, factor: Decimal) -> Result<Decimal, DecimalError> {
    Ok(decimal::multiply(number.normalize(), factor.normalize())?.normalize())
}

/// Splits at the decimal separator. The first part may have group separators.
fn split<'t>(bare: &'t Bare<'_>, notation: Notation<'_>) -> Result<(&'t str, &'t str), NumberError> {
    let text = bare.digits();
    let not_a_number = |locale: Option<Locale>| match locale {
        Some(locale) if is_numeric(text) => NumberError::Separators { decimal: locale.decimal },
        _ => NumberError::NotANumber,
    };
    match notation {
        Notation::Canonical => match bare.shape().ok_or_else(|| not_a_number(None))? {
            Shape::Clear { whole, fraction, decimal: None | Some(Mark::Point) }
            | Shape::Ambiguous(TwoReadings { whole, fraction, mark: Mark::Point }) => Ok((whole, fraction)),
            _ => Err(NumberError::Separators { decimal: '.' }),
        },
        Notation::Column { locale, style } => match bare.shape().ok_or_else(|| not_a_number(locale))? {
            Shape::Ambiguous(number) if style.choose(number, locale)? == number.mark => {
                Ok((number.whole, number.fraction))
            }
            // The separator is dropped when the digits are put together.
            Shape::Ambiguous(_) => Ok((text, "")),
            Shape::Clear { whole, fraction, decimal } => match locale {
                Some(locale) if !is_written_in(text, decimal, locale) => {
                    Err(NumberError::Separators { decimal: locale.decimal })
                }
                None => {
                    style.check_irregular_thousands(Shape::Clear { whole, fraction, decimal })?;
                    Ok((whole, fraction))
                }
                Some(_) => Ok((whole, fraction)),
            },
        },
    }
}

fn compose(negative: bool, whole: &str, fraction: &str) -> Result<Decimal, NumberError> {
    let significant = || whole.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0');
    if significant().count() + fraction.len() > MAX_DIGITS {
        return Err(NumberError::TooLong);
    }
    let digits = significant().chain(fraction.bytes());
    let mantissa = digits.fold(0_i128, |mantissa, digit| mantissa * 10 + i128::from(digit - b'0'));
    let scale = u32::try_from(fraction.len()).expect("at most 28 digits");
    let number = Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| NumberError::TooLong)?;
    Ok(if negative && !number.is_zero() { -number } else { number })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::prop_assert_eq;

    use super::*;
    use crate::locale::{LOCALES, Separators, find};

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
        check("1 299:-", "sv", Ok("1299"));
        check("199:-", "de", Ok("199"));
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
        check("1,50", "", Ok("1.50"));
        check("1,234.50", "", Ok("1234.50"));
        assert!(matches!(parse("1,234", None, None), Err(NumberError::Ambiguous(_))));
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
            ",",
            "5,",
            "19:9-",
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
        check("5,-", "", Ok("5"));
        for zero in [" $-   ", "€ -", "- €", "-€", "EUR –"] {
            check(zero, "", Ok("0"));
            check(zero, "de", Ok("0"));
        }
        for nothing in [" -   ", "€", "(€)", "€ -%", "€--"] {
            check(nothing, "", Err(NumberError::NotANumber));
        }
        check("1,234円", "", Ok("1234"));
        check("1,234円", "de", Err(NumberError::Separators { decimal: ',' }));
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
