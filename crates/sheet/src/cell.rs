//! Cell values and column letters.

use std::borrow::Cow;

use jiff::civil;
use serde::{Deserialize, Serialize};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::decimal;

/// A cell's value. Text is exactly as stored in the file: not trimmed, parsed or guessed.
pub type Cell<'a> = CellOf<&'a str>;

/// A cell's value with texts of type `T`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub enum CellOf<T> {
    /// An empty cell. Empty text is also read as blank, because CSV cannot distinguish the two.
    Blank,
    Text(T),
    /// A workbook number, stored as a binary double. [`Cell::shown`] returns its shortest exact digits.
    Number(f64),
    /// A finite workbook number with a percentage format: 0.19 is shown as `19%`.
    Percent(f64),
    Boolean(bool),
    Date(civil::Date),
    Time(civil::Time),
    DateTime(civil::DateTime),
    /// A workbook error value such as `#N/A`.
    Error(T),
    /// A workbook number whose format shows a currency.
    Money(f64, CurrencyMark),
    /// A workbook number displayed with other text or as another number, and the displayed text: 5001 as `R-5001`.
    Formatted(f64, T),
    /// A workbook number displayed with more or fewer decimals than it has: 1.1 as `1.10`, 1.105 as `1.11`.
    Rounded(f64, u8),
}

/// The displayed text of a workbook cell, if different from the text of its value.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Shown<'a> {
    /// In English. Empty if nothing is displayed, or if unknown.
    pub text: &'a str,
    /// Whether all programs display this text, on computers in every language.
    pub is_certain: bool,
}

/// A part of a cell's text, as it is set.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct TextPart<'a> {
    pub setting: Setting,
    pub text: &'a str,
}

/// How a part of a text is set beside the others. A raised digit is a footnote, a struck price an old one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Setting {
    Plain,
    Raised,
    Lowered,
    Struck,
}

/// Error value of a formula without a calculated result.
pub const NOT_CALCULATED: &str = "#NOT CALCULATED";

/// Error value of a cell that a workbook stores twice, with different values.
pub const STORED_TWICE: &str = "#STORED TWICE";

impl<T> CellOf<T> {
    /// Replaces the text, if any.
    pub(super) fn map_text<U>(self, replace: impl FnOnce(T) -> U) -> CellOf<U> {
        match self {
            CellOf::Blank => CellOf::Blank,
            CellOf::Text(text) => CellOf::Text(replace(text)),
            CellOf::Number(number) => CellOf::Number(number),
            CellOf::Percent(number) => CellOf::Percent(number),
            CellOf::Boolean(boolean) => CellOf::Boolean(boolean),
            CellOf::Date(date) => CellOf::Date(date),
            CellOf::Time(time) => CellOf::Time(time),
            CellOf::DateTime(at) => CellOf::DateTime(at),
            CellOf::Error(text) => CellOf::Error(replace(text)),
            CellOf::Money(number, currency) => CellOf::Money(number, currency),
            CellOf::Formatted(number, text) => CellOf::Formatted(number, replace(text)),
            CellOf::Rounded(number, decimals) => CellOf::Rounded(number, decimals),
        }
    }
}

impl<'a> Cell<'a> {
    /// Returns the value as text, as a CSV would store it. Numbers have all digits and no exponent; dates are in ISO 8601.
    #[inline]
    pub fn shown(&self) -> Cow<'a, str> {
        match *self {
            Cell::Text(text) => Cow::Borrowed(text),
            _ => self.written(),
        }
    }

    fn written(&self) -> Cow<'a, str> {
        match *self {
            Cell::Blank => Cow::Borrowed(""),
            Cell::Text(text) | Cell::Error(text) | Cell::Formatted(_, text) => Cow::Borrowed(text),
            Cell::Number(number) | Cell::Rounded(number, _) => Cow::Owned(number.to_string()),
            Cell::Percent(number) => Cow::Owned(percentage(number)),
            Cell::Money(number, currency) => Cow::Owned(format!("{number} {currency}")),
            Cell::Boolean(true) => Cow::Borrowed("TRUE"),
            Cell::Boolean(false) => Cow::Borrowed("FALSE"),
            Cell::Date(date) => Cow::Owned(date.to_string()),
            Cell::Time(time) => Cow::Owned(time.to_string()),
            Cell::DateTime(at) => Cow::Owned(at.to_string()),
        }
    }

    /// Returns the stored value without its number format: percentages, money and formatted numbers become plain numbers.
    pub fn unformatted(self) -> Cell<'a> {
        match self {
            Cell::Percent(number) | Cell::Money(number, _) | Cell::Formatted(number, _) | Cell::Rounded(number, _) => {
                Cell::Number(number)
            }
            cell => cell,
        }
    }

    /// Returns true for blank cells and for text of only white space.
    #[inline]
    pub fn is_blank(&self) -> bool {
        match self {
            Cell::Blank => true,
            Cell::Text(text) => !matches!(text.as_bytes(), [b'!'..=b'~', ..]) && text.trim_start().is_empty(),
            _ => false,
        }
    }
}

/// Returns the letters of a column: 0 is `A`, 25 is `Z`, 26 is `AA`.
pub fn column_letters(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = index + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// Returns the zero-based index of a column such as `C` or `AA`, or `None` for other text and columns past `XFD`.
pub fn column_index(letters: &str) -> Option<usize> {
    if letters.is_empty() || letters.len() > 3 || !letters.bytes().all(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let index = letters.bytes().fold(0, |sum, b| sum * 26 + usize::from(b - b'A') + 1) - 1;
    (index < 16_384).then_some(index)
}

/// Formats a number as a percentage with up to 15 digits, the precision of spreadsheet programs.
fn percentage(number: f64) -> String {
    match decimal::from_f64(number) {
        Ok(fraction) => decimal::percentage(fraction),
        // Out of the range of decimals.
        Err(_) => format!("{}%", number * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn column_letters_and_indexes_match() {
        for (index, letters) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")] {
            assert_eq!(column_letters(index), letters);
            assert_eq!(column_index(letters), Some(index));
        }
        assert_eq!(column_index("XFE"), None);
        assert_eq!(column_index("a"), None);
    }

    #[test]
    fn numbers_are_shown_without_exponent_or_binary_noise() {
        for (number, shown) in
            [(42.0, "42"), (1234.5, "1234.5"), (4006381333931.0, "4006381333931"), (1e-7, "0.0000001")]
        {
            assert_eq!(Cell::Number(number).shown(), shown);
        }
    }

    #[test]
    fn percentages_are_shown_exactly() {
        for (number, shown) in [
            (0.19, "19%"),
            (0.07, "7%"),
            (0.195, "19.5%"),
            (0.0, "0%"),
            (-0.0, "0%"),
            (1.0, "100%"),
            (0.1, "10%"),
            (12.5, "1250%"),
            (-0.005, "-0.5%"),
            (-0.055, "-5.5%"),
            (1e-7, "0.00001%"),
            (0.1 + 0.2, "30%"),
            (1.1 * 1.1, "121%"),
            (1e20, "10000000000000000000000%"),
            (0.123_456_789_012_345, "12.3456789012345%"),
        ] {
            assert_eq!(Cell::Percent(number).shown(), shown, "{number}");
        }
    }

    proptest! {
        #[test]
        fn percentages_parse_back_to_the_same_number(digits in -999_999_999_999_999_i64..=999_999_999_999_999, places in 0_i32..20) {
            let number: f64 = format!("{digits}e-{places}").parse().expect("a number");
            let shown = Cell::Percent(number).shown().into_owned();
            let back: f64 = format!("{}e-2", shown.trim_end_matches('%')).parse().expect("a number");
            prop_assert_eq!(back, number);
        }
    }
}
