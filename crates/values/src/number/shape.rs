//! The separators of a number, without a locale.

use crate::locale::{APOSTROPHES, LOCALES, SPACES, Separators};

/// A character that is a decimal separator in some locales and a group separator in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Point,
    Comma,
}

/// Digits with separators, split as far as possible without a locale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape<'t> {
    /// An unambiguous number. The whole part may have group separators.
    Clear {
        whole: &'t str,
        fraction: &'t str,
        /// The decimal separator, if the number contains it.
        decimal: Option<Mark>,
    },
    Ambiguous(TwoReadings<'t>),
}

/// A number such as `1.299`: either 1299, or 1.299 with `mark` as the decimal separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TwoReadings<'t> {
    pub(super) whole: &'t str,
    pub(super) fraction: &'t str,
    pub(super) mark: Mark,
}

impl Mark {
    pub fn of(c: char) -> Option<Mark> {
        match c {
            '.' => Some(Mark::Point),
            ',' => Some(Mark::Comma),
            _ => None,
        }
    }

    pub(super) fn as_char(self) -> char {
        match self {
            Mark::Point => '.',
            Mark::Comma => ',',
        }
    }

    pub(super) fn other(self) -> Mark {
        match self {
            Mark::Point => Mark::Comma,
            Mark::Comma => Mark::Point,
        }
    }
}

impl<'t> Shape<'t> {
    /// Splits digits and separators. Returns `None` if no locale has such numbers.
    pub(super) fn of(text: &'t str) -> Option<Shape<'t>> {
        let clear = |whole, fraction, decimal| Some(Shape::Clear { whole, fraction, decimal });
        if all_digits(text) {
            return clear(text, "", None);
        }
        if is_arabic(text) {
            let (whole, fraction) = split_at_decimal(text, &LOCALES.arabic)?;
            return clear(whole, fraction, None);
        }
        // A Swedish price without decimals: 199:-
        if let Some(whole) = without_dash(text) {
            let marks = [None, Some(Mark::Point), Some(Mark::Comma)];
            let is_valid = marks.into_iter().any(|mark| is_grouped(whole, mark));
            return if is_valid { clear(whole, "", None) } else { None };
        }
        let marks = || text.char_indices().filter_map(|(at, c)| Some((at, Mark::of(c)?)));
        let Some((at, mark)) = marks().next_back() else {
            return if is_grouped(text, None) { clear(text, "", None) } else { None };
        };
        let (whole, fraction) = (&text[..at], &text[at + 1..]);
        if marks().any(|(_, other)| other != mark) {
            // With both marks, the last mark is the decimal separator.
            let is_valid = is_grouped(whole, Some(mark.other())) && is_fraction(fraction);
            return if is_valid { clear(whole, digits_of(fraction), Some(mark)) } else { None };
        }
        if marks().count() > 1 {
            // 1.234.567: a group separator, so the other mark is the decimal separator.
            return if is_grouped(text, Some(mark)) { clear(text, "", Some(mark.other())) } else { None };
        }
        if whole.is_empty() {
            // Databases write 0.5 as .5
            return if all_digits(fraction) { clear(whole, fraction, Some(mark)) } else { None };
        }
        if !all_digits(whole) {
            // Groups of spaces or apostrophes before the decimal separator.
            let is_valid = is_grouped(whole, None) && is_fraction(fraction);
            return if is_valid { clear(whole, digits_of(fraction), Some(mark)) } else { None };
        }
        match is_fraction(fraction) {
            true if fraction.len() == 3 && all_digits(fraction) && whole.len() <= 3 && !whole.starts_with('0') => {
                Some(Shape::Ambiguous(TwoReadings { whole, fraction, mark }))
            }
            true => clear(whole, digits_of(fraction), Some(mark)),
            false => None,
        }
    }
}

impl<'t> Shape<'t> {
    /// Returns both readings of a number such as `.500` or `1000,000`, which have three decimals, or are groups that lack a digit or
    /// a separator.
    pub(super) fn irregular_thousands(self) -> Option<TwoReadings<'t>> {
        match self {
            Shape::Clear { whole, fraction, decimal: Some(mark) }
                if fraction.len() == 3 && (whole.is_empty() || whole.len() > 3 && all_digits(whole)) =>
            {
                Some(TwoReadings { whole, fraction, mark })
            }
            _ => None,
        }
    }
}

/// Splits at the decimal separator of a locale. Returns `None` if the text is not a number in this locale.
fn split_at_decimal<'t>(text: &'t str, locale: &Separators) -> Option<(&'t str, &'t str)> {
    let (whole, fraction) = text.split_once(locale.decimal).map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let whole_is_valid = all_digits(whole) || is_grouped_in(whole, locale);
    match fraction {
        None if whole_is_valid => Some((whole, "")),
        Some(fraction) if whole.is_empty() && all_digits(fraction) => Some((whole, fraction)),
        Some(fraction) if whole_is_valid && is_fraction(fraction) => Some((whole, digits_of(fraction))),
        _ => None,
    }
}

/// Returns whether an unambiguous number follows a locale. Arabic digits have special separators.
pub(super) fn is_written_in(text: &str, decimal: Option<Mark>, locale: &Separators) -> bool {
    let text = without_dash(text).unwrap_or(text);
    is_arabic(text)
        || decimal.is_none_or(|mark| Mark::of(locale.decimal) == Some(mark)) && split_at_decimal(text, locale).is_some()
}

/// Returns the digits before a colon and a dash.
fn without_dash(text: &str) -> Option<&str> {
    text.strip_suffix(['-', '\u{2013}'])?.strip_suffix(':')
}

fn is_arabic(text: &str) -> bool {
    !text.is_ascii() && (text.contains(LOCALES.arabic.decimal) || text.contains(LOCALES.arabic.group.as_slice()))
}

/// Returns whether the text consists of digits and separators, in any order.
pub(super) fn is_numeric(text: &str) -> bool {
    let is_separator = |c: char| ",.-\u{2013}\u{2014}".contains(c) || SPACES.contains(&c) || APOSTROPHES.contains(&c);
    text.contains(|c: char| c.is_ascii_digit())
        && !text.starts_with(is_separator)
        && text.chars().all(|c| c.is_ascii_digit() || is_separator(c))
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether the text can follow a decimal separator: digits, or a dash instead of zeros, as in `12,–`.
fn is_fraction(text: &str) -> bool {
    all_digits(text) || matches!(text, "-" | "--" | "\u{2013}" | "\u{2014}")
}

/// Returns the digits of a fraction, or an empty text for a dash.
fn digits_of(fraction: &str) -> &str {
    if all_digits(fraction) { fraction } else { "" }
}

/// Returns whether the digits are plain or form groups, with any group separator or only with `mark`.
fn is_grouped(whole: &str, mark: Option<Mark>) -> bool {
    let Some(separator) = whole.chars().find(|c| !c.is_ascii_digit()) else { return !whole.is_empty() };
    let kind: &[char] = match mark {
        Some(mark) => &[mark.as_char()],
        None if SPACES.contains(&separator) => SPACES,
        None if APOSTROPHES.contains(&separator) => APOSTROPHES,
        None => return false,
    };
    has_groups(whole, kind, true)
}

/// Returns whether the digits form groups as in a locale, with the same kind of separator throughout.
fn is_grouped_in(whole: &str, locale: &Separators) -> bool {
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
    has_groups(whole, kind, locale.lakh)
}

/// Returns whether the digits form groups of three, or of two before the last group if `lakh` permits this.
fn has_groups(whole: &str, separators: &[char], lakh: bool) -> bool {
    let groups: Vec<&str> = whole.split(separators).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return false };
    let all_have = |length: usize| middle.iter().all(|group| group.len() == length);
    groups.iter().all(|group| all_digits(group))
        && last.len() == 3
        && (first.len() <= 3 && all_have(3) || lakh && first.len() <= 2 && all_have(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_with_one_reading_are_recognized() {
        for (text, whole, fraction, decimal) in [
            ("12", "12", "", None),
            ("12.50", "12", "50", Some(Mark::Point)),
            ("12,5", "12", "5", Some(Mark::Comma)),
            ("1.234,50", "1.234", "50", Some(Mark::Comma)),
            ("1,234.50", "1,234", "50", Some(Mark::Point)),
            ("1.234.567", "1.234.567", "", Some(Mark::Comma)),
            ("1,23,456.78", "1,23,456", "78", Some(Mark::Point)),
            ("0,890", "0", "890", Some(Mark::Comma)),
            ("0.125", "0", "125", Some(Mark::Point)),
            ("1234,567", "1234", "567", Some(Mark::Comma)),
            ("1.2345", "1", "2345", Some(Mark::Point)),
            ("12'345.60", "12'345", "60", Some(Mark::Point)),
            ("1 234,567", "1 234", "567", Some(Mark::Comma)),
            ("1 234", "1 234", "", None),
            ("12.-", "12", "", Some(Mark::Point)),
            ("12,–", "12", "", Some(Mark::Comma)),
            (".5", "", "5", Some(Mark::Point)),
            (",125", "", "125", Some(Mark::Comma)),
            ("199:-", "199", "", None),
            ("1 299:–", "1 299", "", None),
            ("1.299:-", "1.299", "", None),
        ] {
            assert_eq!(Shape::of(text), Some(Shape::Clear { whole, fraction, decimal }), "{text}");
        }
    }

    #[test]
    fn three_digits_after_one_separator_are_ambiguous() {
        for (text, whole, fraction, mark) in [
            ("1.299", "1", "299", Mark::Point),
            ("1,299", "1", "299", Mark::Comma),
            ("123.000", "123", "000", Mark::Point),
        ] {
            assert_eq!(Shape::of(text), Some(Shape::Ambiguous(TwoReadings { whole, fraction, mark })), "{text}");
        }
    }

    #[test]
    fn other_texts_have_no_shape() {
        for text in [
            "",
            "1.2.3",
            "1,2,3",
            "1.234,567.8",
            "12,34,5",
            ".",
            ".-",
            ".5.",
            "5.",
            ":-",
            "1.29:-",
            "12:5",
            "1. 5",
            "a",
            "1..5",
            "1.234.56",
            "1,2345.6",
        ] {
            assert_eq!(Shape::of(text), None, "{text}");
        }
    }
}
