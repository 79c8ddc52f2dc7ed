//! One cell's value as the file holds it, and how columns are named.

use std::borrow::Cow;

use jiff::civil;

/// A cell's value. Text is what the file holds to the letter: nothing is trimmed, parsed or guessed here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing there. An empty text is read as blank too, because a CSV cannot tell them apart.
    Blank,
    Text(&'a str),
    /// A workbook's number. Workbooks store binary doubles; [`Cell::shown`] gives the shortest digits that mean it.
    Number(f64),
    Boolean(bool),
    Date(civil::Date),
    Time(civil::Time),
    DateTime(civil::DateTime),
    /// A workbook's error value, such as `#N/A`.
    Error(&'a str),
}

/// The error value of a formula that no spreadsheet program has calculated yet, so that its cell has no value.
pub const NOT_CALCULATED: &str = "#NOT CALCULATED";

impl<'a> Cell<'a> {
    /// The value as text: what a CSV of this cell would hold. Numbers have no exponent, dates are ISO 8601.
    pub fn shown(&self) -> Cow<'a, str> {
        match *self {
            Cell::Blank => Cow::Borrowed(""),
            Cell::Text(text) | Cell::Error(text) => Cow::Borrowed(text),
            Cell::Number(number) => Cow::Owned(number.to_string()),
            Cell::Boolean(true) => Cow::Borrowed("TRUE"),
            Cell::Boolean(false) => Cow::Borrowed("FALSE"),
            Cell::Date(date) => Cow::Owned(date.to_string()),
            Cell::Time(time) => Cow::Owned(time.to_string()),
            Cell::DateTime(at) => Cow::Owned(at.to_string()),
        }
    }

    /// True for a blank cell and for text that is only white space.
    pub fn is_blank(&self) -> bool {
        match self {
            Cell::Blank => true,
            Cell::Text(text) => text.trim().is_empty(),
            _ => false,
        }
    }
}

/// The letters that spreadsheets show above a column: 0 is `A`, 25 is `Z`, 26 is `AA`.
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

/// The column that letters such as `C` or `AA` name, from 0; nothing for other text or past XFD, the last one.
pub fn column_index(letters: &str) -> Option<usize> {
    if letters.is_empty() || letters.len() > 3 || !letters.bytes().all(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let index = letters.bytes().fold(0, |sum, b| sum * 26 + usize::from(b - b'A') + 1) - 1;
    (index < 16_384).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_that_spreadsheets_show() {
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
}
