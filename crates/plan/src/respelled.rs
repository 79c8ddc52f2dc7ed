//! Texts changed by a spreadsheet program: `000042` becomes 42, `4006381333948` becomes 4.00638E+12, `3-5` becomes 03.05.2026,
//! and `true` becomes TRUE. A program that reads UTF-8 as Windows-1252 turns `Müller` into `MÃ¼ller`.

use encoding_rs::{UTF_8, WINDOWS_1252};
use sheetport_sheet::Cell;
use sheetport_values::decimal;
use sheetport_values::number::style::ColumnStyle;
use sheetport_values::number::{Notation, ParsedNumber, parse_in};
use sheetport_values::{date, locale};

/// Maximum number of digits displayed. Programs shorten longer numbers on screen, and save the displayed text to text files.
const MAX_SHOWN: usize = 11;
/// Programs keep this number of significant digits.
const PRECISION: usize = 15;
/// Minimum number of significant digits of a shortened number.
const MIN_SHOWN: usize = 3;
/// Minimum number of significant digits in a long number without an exponent.
const MIN_PLAIN: usize = 9;

/// Whether a spreadsheet program may rewrite this text, because it looks like a number.
pub(super) fn may_be_respelled(text: &str) -> bool {
    number(text).is_some()
}

/// Whether `cell` is the number that a spreadsheet program makes of `original`: equal, or equal after rounding.
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

/// Whether programs round this JSON number, because it has too many digits.
pub(super) fn may_be_rounded(json: &str) -> bool {
    number(json).is_some_and(|number| number.digits.len() > PRECISION)
}

/// Whether this number may be a longer number after rounding.
pub(super) fn looks_rounded(text: &str) -> bool {
    let now = number(&text.replace(',', "."));
    now.is_some_and(|now| now.digits.len() >= MIN_PLAIN || text.contains(['E', 'e']))
}

/// Whether `cell` is `original`, a number with more than 15 digits, after rounding.
pub(super) fn is_rounded(original: &str, cell: &Cell<'_>) -> bool {
    let shown = cell.shown().replace(',', ".");
    let (Some(original), Some(now)) = (number(original), number(&shown)) else { return false };
    let fewest = if shown.contains(['E', 'e']) { now.digits.len().max(MIN_SHOWN) } else { MIN_PLAIN };
    original.digits.len() > PRECISION
        && original != now
        && (fewest..=PRECISION).any(|digits| original.rounded(digits) == now)
}

/// Returns the text before it was read as Windows-1252 and encoded again, or `None` for any other text.
pub(super) fn encoded_once(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    // A character encoded twice is at least two characters outside ASCII.
    let first = text.find(|c: char| !c.is_ascii())?;
    if text[first..].chars().nth(1).is_none_or(|c| c.is_ascii()) {
        return None;
    }
    // LibreOffice reads bytes without a character as characters for private use.
    let is_private = |c: char| ('\u{f180}'..='\u{f19f}').contains(&c);
    let byte = |c: char| if is_private(c) { char::from((u32::from(c) & 0xff) as u8) } else { c };
    let characters: String = text.chars().map(byte).collect();
    let (bytes, _, has_others) = WINDOWS_1252.encode(&characters);
    let once = UTF_8.decode_without_bom_handling_and_without_replacement(&bytes).filter(|_| !has_others)?;
    (once != text).then(|| once.into_owned())
}

/// Whether this may be the result of a spreadsheet program changing a text that was not an identifier.
pub(super) fn may_be_a_respelled_text(text: &str) -> bool {
    let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
    is_boolean(text)
        || has_digits
            && (number(&text.replace(',', ".")).is_some()
                || amounts(text).next().is_some()
                || DateParts::of(text).is_some())
}

/// Whether `cell` is the result of a spreadsheet program reading the text `original`: a number, an amount of money, a percentage,
/// a boolean, a date or a time.
pub(super) fn is_respelled_text(original: &str, cell: &Cell<'_>) -> bool {
    let shown = cell.shown();
    let (was, now) = (original.trim(), shown.trim());
    if matches!(cell, Cell::Text(_)) && was == now {
        return false;
    }
    is_respelled(original, cell)
        || is_same_boolean(was, now)
        || amounts(was).any(|was| amounts(now).any(|now| was == now))
        || is_same_date(was, now)
}

/// Words for true and false in spreadsheet programs.
const BOOLEANS: [(&str, &str); 9] = [
    ("TRUE", "FALSE"),
    ("WAHR", "FALSCH"),
    ("VRAI", "FAUX"),
    ("VERO", "FALSO"),
    ("VERDADERO", "FALSO"),
    ("VERDADEIRO", "FALSO"),
    ("WAAR", "ONWAAR"),
    ("PRAWDA", "FAŁSZ"),
    ("PRAVDA", "NEPRAVDA"),
];

fn is_boolean(text: &str) -> bool {
    let upper = text.to_uppercase();
    BOOLEANS.iter().any(|(yes, no)| upper == *yes || upper == *no)
}

/// Whether both are words for the same value, perhaps in different languages.
fn is_same_boolean(was: &str, now: &str) -> bool {
    let is_yes = |text: &str| BOOLEANS.iter().any(|(yes, _)| text.eq_ignore_ascii_case(yes));
    is_boolean(was) && is_boolean(now) && is_yes(was) == is_yes(now)
}

/// Returns the readings of a text as a number with a sign, a currency or a percent sign, with a point or a comma.
fn amounts(text: &str) -> impl Iterator<Item = ParsedNumber> + '_ {
    ["en", "de"].into_iter().filter_map(|name| {
        let notation = Notation::Column { locale: locale::find(name), style: &ColumnStyle::UNKNOWN };
        parse_in(text, notation).ok()
    })
}

/// Whether a program may read `was` as the date or time `now`: the same numbers, possibly with a year or with seconds.
fn is_same_date(was: &str, now: &str) -> bool {
    let (Some(was), Some(now)) = (DateParts::of(was), DateParts::of(now)) else { return false };
    let is_year = |number: u32| number >= 1900;
    let is_same = |one: u32, other: u32| {
        one == other || (is_year(one) || is_year(other)) && one % 100 == other % 100 && one.min(other) < 100
    };
    let is_added = |number: u32| number == 0 || is_year(number) && was.numbers.len() < 3;
    let has = |parts: &DateParts, number: u32| parts.numbers.iter().any(|other| is_same(*other, number));
    (!was.is_time || now.is_time)
        && now.numbers.iter().all(|number| has(&was, *number) || is_added(*number))
        && was.numbers.iter().all(|number| has(&now, *number))
}

/// The numbers of a date or time. Names of months count as numbers.
struct DateParts {
    numbers: Vec<u32>,
    is_time: bool,
}

impl DateParts {
    /// Returns the parts of a date or time, or `None` for other texts.
    fn of(text: &str) -> Option<DateParts> {
        const MAX_BYTES: usize = 40;
        if text.len() > MAX_BYTES || text.parse::<f64>().is_ok() {
            return None;
        }
        let (mut numbers, mut is_afternoon) = (Vec::new(), false);
        for part in text.split(|c: char| "-/. :,T".contains(c)).filter(|part| !part.is_empty()) {
            numbers.push(match part.parse::<u32>() {
                Ok(number) if part.len() <= 4 => number,
                Ok(_) => return None,
                Err(_) if part.eq_ignore_ascii_case("am") => continue,
                Err(_) if part.eq_ignore_ascii_case("pm") => {
                    is_afternoon = true;
                    continue;
                }
                Err(_) => date::month(part)?,
            });
        }
        let is_time = text.contains(':');
        match numbers.first_mut() {
            Some(hour @ 1..=11) if is_afternoon && is_time => *hour += 12,
            _ => {}
        }
        (2..=7).contains(&numbers.len()).then_some(DateParts { numbers, is_time })
    }
}

/// A number as significant digits, without leading and trailing zeros, and the power of ten of the last digit.
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
    /// Returns the number with at most `digits` significant digits, half rounded up.
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
    fn values_changed_from_texts_are_recognized() {
        for (original, now) in [
            ("007", "7"),
            ("1E5", "1.00E+05"),
            ("1.10", "1.1"),
            ("1,10", "1.1"),
            ("true", "TRUE"),
            ("true", "WAHR"),
            ("10%", "10.00%"),
            ("1,234", "1234"),
            ("1.234,50", "1234.5"),
            ("(5)", "-5"),
            ("€ 5", "€5.00"),
            ("3-5", "03.05.2026"),
            ("3/5", "2026-03-05"),
            ("03/04/2025", "03/04/25"),
            ("5 Mar", "05.03.2026"),
            ("3-5", "05. Mrz"),
            ("2026-01-02", "02.01.26"),
            ("9:30", "09:30:00"),
            ("21:30", "09:30:00 PM"),
        ] {
            assert!(is_respelled_text(original, &Cell::Text(now)), "{original} {now}");
            assert!(may_be_a_respelled_text(now), "{now}");
        }
        assert!(is_respelled_text("true", &Cell::Boolean(true)));
        assert!(is_respelled_text("3-5", &Cell::Date(jiff::civil::date(2026, 5, 3))));
        for (original, now) in [
            ("007", "8"),
            ("007", "007"),
            ("Bolt", "bolt"),
            ("Bolt 7", "Bolt 8"),
            ("true", "FALSE"),
            ("10%", "10"),
            ("2-5 mm", "2-6 mm"),
            ("1.5", "15"),
            ("3-5", "03.06.2026"),
            ("3-5", "35"),
            ("2025-01-02", "02.01.26"),
            ("9:30", "09:31:00"),
            ("Art. 5", "Art. 6"),
            ("size 3-5", "03.05.2026"),
        ] {
            assert!(!is_respelled_text(original, &Cell::Text(now)), "{original} {now}");
        }
    }

    #[test]
    fn numbers_changed_from_texts_are_recognized() {
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

    #[test]
    fn numbers_with_too_many_digits_are_recognized() {
        for (original, now) in [
            ("0.1234567890123456789", "0.123456789012346"),
            ("0.1234567890123456789", "0,123456789012346"),
            ("0.1234567890123456789", "0.123456789"),
            ("12345678901234567890.12", "1.23456789012346E+019"),
            ("12345678901234567890.12", "1,23457E+19"),
            ("-12345678901234567890.12", "-12345678901234600000"),
        ] {
            assert!(may_be_rounded(original) && looks_rounded(now), "{original} {now}");
            assert!(is_rounded(original, &Cell::Text(now)), "{original} {now}");
        }
        assert!(is_rounded("0.1234567890123456789", &Cell::Number(0.123_456_789_012_346)));
        for (original, now) in [
            ("0.1234567890123456789", "0.1234567890123456789"),
            ("0.1234567890123456789", "0.123456789012347"),
            ("0.1234567890123456789", "0.12"),
            ("1.50", "1.5"),
            ("1.123456789", "1.12345679"),
        ] {
            assert!(!is_rounded(original, &Cell::Text(now)), "{original} {now}");
        }
        assert!(!may_be_rounded("123456789012345") && !may_be_rounded("1e30"));
    }

    #[test]
    fn texts_that_were_encoded_twice_are_recognized() {
        for (original, now) in [
            ("Müller", "MÃ¼ller"),
            ("€ 5", "â‚¬ 5"),
            ("Áß", "Ã\u{81}ÃŸ"),
            ("Áß", "Ã\u{f181}ÃŸ"),
            ("螺丝 🔩", "èžºä¸\u{f19d} ðŸ”©"),
            ("ü\u{a0}", "Ã¼Â\u{a0}"),
        ] {
            assert_eq!(encoded_once(now).as_deref(), Some(original));
        }
        for text in ["Müller", "Muller", "Ã", "Größe MÃ¼ller", "螺丝"] {
            assert_eq!(encoded_once(text), None);
        }
    }
}
