//! From a number as people write it to the digits that go into a request, exactly: no value passes through a float.

use std::borrow::Cow;
use std::fmt::Write;

use rust_decimal::Decimal;

use super::currency;
use super::digits::MAX_DIGITS;
pub use super::digits::{compare, integer, round, scale, to_places};
use super::locale::{APOSTROPHES, ARABIC, Locale, SPACES, Separators};
use super::model::Percent;
use super::width::{narrow, trim};

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
    /// A fraction where the field takes whole numbers only.
    NotWhole,
}

/// Reads `text` into the digits of a JSON number: `1.234,50` in a German locale is `1234.50`. Plain digits are borrowed.
///
/// Accepted are one sign before or after the digits, one currency beside them, white space around them, parentheses for
/// negatives, group separators where the locale puts them, and `12,–` for an even amount. Trailing zeros of the fraction
/// are kept.
pub fn read(text: &str, locale: Option<Locale>, percent: Option<Percent>) -> Result<Cow<'_, str>, Fault> {
    let text = trim(text);
    if is_plain(text.as_bytes(), locale.is_none_or(|locale| locale.decimal == '.')) {
        return Ok(Cow::Borrowed(text));
    }
    let text = narrow(text);
    let bare = strip(&text).ok_or(Fault::NotANumber)?;
    let (whole, fraction) = split(bare.digits, locale)?;
    let digits = compose(bare.negative, whole, fraction)?;
    match (bare.percent, percent) {
        (false, _) | (true, Some(Percent::Whole)) => Ok(Cow::Owned(digits)),
        (true, Some(Percent::Fraction)) => scale(&digits, Decimal::new(1, 2)).map(Cow::Owned),
        (true, None) => Err(Fault::PercentUnclear),
    }
}

/// As [`read`], as a text of its own.
pub fn parse(text: &str, locale: Option<Locale>, percent: Option<Percent>) -> Result<String, Fault> {
    read(text, locale, percent).map(Cow::into_owned)
}

/// The digits of a workbook's binary double. Spreadsheet programs keep 15 digits: the noise past them is dropped.
pub fn from_double(number: f64) -> Result<String, Fault> {
    let mut digits = String::new();
    write_double(number, &mut digits)?;
    Ok(digits)
}

/// The digits of a workbook's percentage, `number` being 0.19 where the cell shows `19%`: what [`read`] gives for the
/// text that it shows.
pub fn from_percent(number: f64, percent: Option<Percent>) -> Result<String, Fault> {
    let digits = from_double(number)?;
    match percent {
        Some(Percent::Whole) => scale(&digits, Decimal::ONE_HUNDRED),
        Some(Percent::Fraction) => Ok(digits),
        None => Err(Fault::PercentUnclear),
    }
}

/// As [`from_double`], added to `out`. After a fault `out` is as it was.
pub fn write_double(number: f64, out: &mut String) -> Result<(), Fault> {
    if !number.is_finite() {
        return Err(Fault::NotANumber);
    }
    let start = out.len();
    let counted = |out: &String| out.as_bytes()[start..].iter().filter(|b| b.is_ascii_digit()).count();
    let write = |number: f64, out: &mut String| {
        // Adding zero makes the negative zero a plain one.
        let written = write!(out, "{}", number + 0.0);
        debug_assert!(written.is_ok(), "writing text to memory can't fail");
    };
    write(number, out);
    if counted(out) > 15
        && let Ok(clean) = format!("{number:.14e}").parse()
    {
        out.truncate(start);
        write(clean, out);
    }
    if counted(out) > MAX_DIGITS {
        out.truncate(start);
        return Err(Fault::TooLong);
    }
    Ok(())
}

/// Whether a text can go into a request to the letter: no superfluous zero or sign, and a point only if `point`.
fn is_plain(text: &[u8], point: bool) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // A zero before the point doesn't count, which only the long way tells apart from other digits.
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return false;
    }
    let whole = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    let fraction = &digits[whole..];
    let fraction_is_plain = match fraction {
        [] => true,
        [b'.', decimals @ ..] => point && !decimals.is_empty() && decimals.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let whole_is_plain = whole == 1 || whole > 1 && digits[0] != b'0';
    let negative_zero = digits.len() < text.len() && digits.iter().all(|b| matches!(b, b'0' | b'.'));
    whole_is_plain && fraction_is_plain && !negative_zero
}

/// A number without what stands around its digits.
struct Bare<'a> {
    digits: &'a str,
    negative: bool,
    percent: bool,
}

/// Takes off at most one each of sign or parentheses, currency and percent sign, in whatever order they stand.
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

/// Whether the sign is a minus, and the rest. A minus may stand behind the number; after a separator it is no sign but
/// stands for the missing decimals.
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

/// The digits before and after the decimal separator, the former still with their group separators, which are checked.
fn split(text: &str, locale: Option<Locale>) -> Result<(&str, &str), Fault> {
    let arabic = text.contains([ARABIC.decimal, ARABIC.group[0]]);
    let decimal = if arabic { ARABIC.decimal } else { locale.map_or('.', |locale| locale.decimal) };
    let (whole, fraction) = text.split_once(decimal).map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let locale = if arabic { Some(&ARABIC) } else { locale };
    let whole_is_fine = all_digits(whole) || locale.is_some_and(|locale| is_grouped(whole, locale));
    match fraction {
        None if whole_is_fine => return Ok((whole, "")),
        Some(fraction) if whole_is_fine && all_digits(fraction) => return Ok((whole, fraction)),
        Some("-" | "--" | "\u{2013}" | "\u{2014}") if whole_is_fine && locale.is_some() => return Ok((whole, "")),
        _ => {}
    }
    let is_separator = |c: char| ",.-\u{2013}\u{2014}".contains(c) || SPACES.contains(&c) || APOSTROPHES.contains(&c);
    let numeric = text.contains(|c: char| c.is_ascii_digit())
        && !text.starts_with(is_separator)
        && text.chars().all(|c| c.is_ascii_digit() || is_separator(c));
    Err(match locale {
        _ if !numeric => Fault::NotANumber,
        None => Fault::NeedsLocale,
        Some(locale) => Fault::Separators { decimal: locale.decimal },
    })
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether digits stand in groups, with one kind of separator between them all.
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
    // Almost every grouped number is of this kind.
    if separator.is_ascii() && is_grouped_by_three(whole.as_bytes(), separator) {
        return true;
    }
    let is_group = |group: &str, length: usize| group.len() == length && all_digits(group);
    let mut groups = whole.rsplit(kind);
    if !groups.next().is_some_and(|last| is_group(last, 3)) {
        return false;
    }
    let mut others = groups.rev();
    let first = others.next().unwrap_or("");
    let between = |length: usize| {
        let groups = whole.split(kind);
        let inner = groups.clone().count().saturating_sub(2);
        groups.skip(1).take(inner).all(|group| is_group(group, length))
    };
    all_digits(first) && (first.len() <= 3 && between(3) || locale.lakh && first.len() <= 2 && between(2))
}

fn is_grouped_by_three(whole: &[u8], separator: char) -> bool {
    let fits = |(index, b): (usize, &u8)| if index % 4 == 3 { char::from(*b) == separator } else { b.is_ascii_digit() };
    whole.first().is_some_and(u8::is_ascii_digit) && whole.iter().rev().enumerate().all(fits)
}

fn compose(negative: bool, whole: &str, fraction: &str) -> Result<String, Fault> {
    let digits = || whole.bytes().filter(u8::is_ascii_digit).skip_while(|b| *b == b'0');
    if digits().count() + fraction.len() > MAX_DIGITS {
        return Err(Fault::TooLong);
    }
    let zero = digits().next().is_none() && fraction.bytes().all(|b| b == b'0');
    let mut number = String::with_capacity(whole.len() + fraction.len() + 3);
    if negative && !zero {
        number.push('-');
    }
    if digits().next().is_none() {
        number.push('0');
    }
    number.extend(digits().map(char::from));
    if !fraction.is_empty() {
        number.push('.');
        number.push_str(fraction);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::prop_assert_eq;

    use super::*;
    use crate::template::locale::{LOCALES, find};

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
    fn what_stands_around_the_digits_is_understood() {
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
        check("USDT 5", "en", Err(Fault::NotANumber));
        check("5,-", "", Err(Fault::NeedsLocale));
        check("1.234 567", "de-AT", Err(Fault::Separators { decimal: ',' }));
        check("1 234,50", "de", Err(Fault::Separators { decimal: ',' }));
    }

    #[test]
    fn other_scripts_and_widths_are_understood() {
        check("１，２３４．５０", "ja", Ok("1234.50"));
        check("－￥１２", "", Ok("-12"));
        check("（￥１，２３４）", "ja", Ok("-1234"));
        check("1,234円", "ja", Ok("1234"));
        check("１２．５", "de", Err(Fault::Separators { decimal: ',' }));
        check("١٢", "", Ok("12"));
        check("١٬٢٣٤٫٥", "de", Ok("1234.5"));
        check("۱۲٫۵", "", Ok("12.5"));
        check("१२", "", Err(Fault::NotANumber));
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
            check(text, "en-IN", Err(Fault::Separators { decimal: '.' }));
        }
        check("1,23,456", "en", Err(Fault::Separators { decimal: '.' }));
    }

    #[test]
    fn plain_digits_are_borrowed() {
        for (text, locale) in [("12.50", ""), ("12.50", "en"), ("-0.5", "de-CH"), (" 7 ", "de"), ("-1234567", "fr")] {
            let locale = find(locale);
            let read = read(text, locale, None);
            assert!(matches!(read, Ok(Cow::Borrowed(digits)) if digits == text.trim()), "{text}: {read:?}");
        }
        check("1.234", "de", Ok("1234"));
        check("-0", "", Ok("0"));
        check("0.1234567890123456789012345678", "", Ok("0.1234567890123456789012345678"));
        check("0.12345678901234567890123456789", "", Err(Fault::TooLong));
        check("12345678901234567890123456789", "", Err(Fault::TooLong));
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_a_json_number_or_a_fault(text in "\\PC{0,12}|[-+0-9.,' €%()]{0,14}") {
            for locale in [None, find("de"), find("en"), find("fr"), find("de-CH"), find("hi")] {
                if let Ok(digits) = parse(&text, locale, Some(Percent::Fraction)) {
                    let number: serde_json::Number = serde_json::from_str(&digits).expect("a JSON number");
                    prop_assert_eq!(number.to_string(), digits);
                }
            }
        }

        #[test]
        fn what_a_locale_writes_it_reads(digits in "[1-9][0-9]{0,16}|0", fraction in "[0-9]{0,10}", negative: bool, style in 0usize..6) {
            for locale in LOCALES {
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
                prop_assert_eq!(parse(&written, Some(locale), None), Ok(format!("{sign}{digits}{point}{fraction}")), "{} {:?}", written, locale.names);
            }
        }

        #[test]
        fn any_bytes_of_a_file_are_read_without_harm(text in "\\PC{0,40}") {
            for locale in LOCALES {
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
