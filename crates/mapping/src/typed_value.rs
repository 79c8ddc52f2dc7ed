//! Typed values between the cells of a sheet and the fields of a request.

use std::borrow::Cow;

use jiff::civil;
use sheetport_sheet::Cell;
use sheetport_values::currency::CurrencyMark;
use sheetport_values::date::ParsedDate;
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::number::{self, NumberError};

/// A value with its type. A number or a date is never parsed from text again.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Blank,
    Text(Cow<'a, str>),
    Number(Decimal),
    /// A percentage as a fraction: 19 % is 0.19.
    Percent(Decimal),
    Money(Decimal, CurrencyMark),
    /// A number displayed with other text by its number format, and the displayed text.
    Formatted(Decimal, Cow<'a, str>),
    Boolean(bool),
    Date(civil::Date),
    Time(civil::Time),
    /// A date with a time of day in an unknown time zone.
    DateTime(civil::DateTime),
    /// A workbook error such as `#N/A`.
    Error(Cow<'a, str>),
}

impl<'a> Value<'a> {
    /// Converts a cell. A workbook's number becomes a decimal with 15 significant digits. Fails for numbers with more
    /// than 28 digits in plain notation.
    pub fn from_cell(cell: &Cell<'a>) -> Result<Value<'a>, NumberError> {
        Ok(match *cell {
            Cell::Blank => Value::Blank,
            Cell::Text(text) => Value::Text(Cow::Borrowed(text)),
            Cell::Number(number) => Value::Number(number::from_f64(number)?),
            // The decimals of a text in a CSV also count.
            Cell::Rounded(number, decimals) => {
                let number = number::from_f64(number)?;
                Value::Number(with_decimals(number, u32::from(decimals)))
            }
            Cell::Percent(number) => Value::Percent(number::from_f64(number)?),
            Cell::Money(number, currency) => Value::Money(number::from_f64(number)?, currency),
            Cell::Formatted(number, shown) => Value::Formatted(number::from_f64(number)?, Cow::Borrowed(shown)),
            Cell::Boolean(boolean) => Value::Boolean(boolean),
            Cell::Date(date) => Value::Date(date),
            Cell::Time(time) => Value::Time(time),
            Cell::DateTime(at) => Value::DateTime(at),
            Cell::Error(text) => Value::Error(Cow::Borrowed(text)),
        })
    }

    /// Returns the canonical text: numbers with a decimal point and without exponent, `19%`, `12.50 EUR`, `TRUE`, dates and times
    /// in ISO 8601, and the displayed text of formatted numbers. A blank has no text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Value::Blank => Cow::Borrowed(""),
            Value::Text(text) | Value::Error(text) | Value::Formatted(_, text) => Cow::Borrowed(text),
            Value::Number(number) => Cow::Owned(digits(*number)),
            Value::Percent(fraction) => Cow::Owned(decimal::percentage(*fraction)),
            Value::Money(amount, currency) => Cow::Owned(format!("{} {currency}", digits(*amount))),
            Value::Boolean(true) => Cow::Borrowed("TRUE"),
            Value::Boolean(false) => Cow::Borrowed("FALSE"),
            Value::Date(date) => Cow::Owned(date.to_string()),
            Value::Time(time) => Cow::Owned(time.to_string()),
            Value::DateTime(at) => Cow::Owned(at.to_string()),
        }
    }

    /// Returns true for blank values and for text of only white space.
    pub fn is_blank(&self) -> bool {
        match self {
            Value::Blank => true,
            Value::Text(text) => text.chars().all(char::is_whitespace),
            _ => false,
        }
    }

    /// Returns the date of a workbook's cell, or `None` for values of other types and for times without a date.
    pub(crate) fn parsed_date(&self) -> Option<ParsedDate> {
        match self {
            Value::Date(date) => Some(ParsedDate::Date(*date)),
            Value::DateTime(local) => Some(ParsedDate::Local(*local)),
            Value::Blank | Value::Text(_) | Value::Number(_) | Value::Percent(_) | Value::Money(..) => None,
            Value::Formatted(..) | Value::Boolean(_) | Value::Time(_) | Value::Error(_) => None,
        }
    }

    /// Returns the name of the type with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Blank => "a blank",
            Value::Text(_) => "text",
            Value::Number(_) | Value::Formatted(..) => "a number",
            Value::Percent(_) => "a percentage",
            Value::Money(..) => "an amount of money",
            Value::Boolean(_) => "a boolean",
            Value::Date(_) => "a date",
            Value::Time(_) => "a time",
            Value::DateTime(_) => "a date with a time",
            Value::Error(_) => "an error of the workbook",
        }
    }

    /// Returns the value with owned texts.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Blank => Value::Blank,
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Number(number) => Value::Number(number),
            Value::Percent(fraction) => Value::Percent(fraction),
            Value::Money(amount, currency) => Value::Money(amount, currency),
            Value::Formatted(number, text) => Value::Formatted(number, Cow::Owned(text.into_owned())),
            Value::Boolean(boolean) => Value::Boolean(boolean),
            Value::Date(date) => Value::Date(date),
            Value::Time(time) => Value::Time(time),
            Value::DateTime(at) => Value::DateTime(at),
            Value::Error(text) => Value::Error(Cow::Owned(text.into_owned())),
        }
    }
}

/// Returns the number padded with trailing zeros, if it has fewer decimals and enough room.
fn with_decimals(mut number: Decimal, decimals: u32) -> Decimal {
    if number.scale() < decimals {
        number.rescale(decimals);
    }
    number
}

fn digits(number: Decimal) -> String {
    if number.is_zero() { number.abs().to_string() } else { number.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    fn number(digits: &str) -> Decimal {
        decimal::parse(digits).expect("a number")
    }

    #[test]
    fn only_dates_and_times_of_a_day_are_dates() {
        let date = civil::date(2026, 1, 31);
        assert_eq!(Value::Date(date).parsed_date(), Some(ParsedDate::Date(date)));
        let local = date.at(8, 30, 0, 0);
        assert_eq!(Value::DateTime(local).parsed_date(), Some(ParsedDate::Local(local)));
        assert_eq!(Value::Time(civil::time(9, 0, 0, 0)).parsed_date(), None);
        assert_eq!(Value::Number(45_000.into()).parsed_date(), None);
    }

    #[test]
    fn cells_keep_their_type() {
        let date = civil::date(2025, 12, 31);
        for (cell, value, text) in [
            (Cell::Blank, Value::Blank, ""),
            (Cell::Text(" 1.234 "), Value::Text(Cow::Borrowed(" 1.234 ")), " 1.234 "),
            (Cell::Number(0.1 + 0.2), Value::Number(number("0.3")), "0.3"),
            (Cell::Number(-0.0), Value::Number(number("0")), "0"),
            (Cell::Number(1e-7), Value::Number(number("0.0000001")), "0.0000001"),
            (Cell::Percent(0.19), Value::Percent(number("0.19")), "19%"),
            (Cell::Boolean(true), Value::Boolean(true), "TRUE"),
            (Cell::Date(date), Value::Date(date), "2025-12-31"),
            (Cell::Time(civil::time(9, 5, 0, 0)), Value::Time(civil::time(9, 5, 0, 0)), "09:05:00"),
            (Cell::DateTime(date.at(9, 5, 0, 0)), Value::DateTime(date.at(9, 5, 0, 0)), "2025-12-31T09:05:00"),
            (Cell::Error("#N/A"), Value::Error(Cow::Borrowed("#N/A")), "#N/A"),
        ] {
            assert_eq!(Value::from_cell(&cell), Ok(value.clone()));
            assert_eq!(value.text(), text);
            assert_eq!(value.is_blank(), cell.is_blank());
            assert_eq!(value.clone().into_owned(), value);
        }
        assert_eq!(Value::from_cell(&Cell::Number(1e300)), Err(NumberError::TooLong));
        assert_eq!(Value::from_cell(&Cell::Percent(1e-40)), Err(NumberError::TooLong));
    }

    #[test]
    fn canonical_texts_are_exact() {
        let euro = CurrencyMark::parse("eur").expect("a currency");
        for (value, text) in [
            (Value::Number(number("12.50")), "12.50"),
            (Value::Number(-number("0.00")), "0.00"),
            (Value::Money(number("-12.50"), euro), "-12.50 EUR"),
            (Value::Percent(number("0.195")), "19.5%"),
            (Value::Percent(number("0.1")), "10%"),
            (Value::Percent(number("-12.5")), "-1250%"),
            (Value::Percent(number("0.000")), "0%"),
            (Value::Percent(Decimal::MAX), "7922816251426433759354395033500%"),
        ] {
            assert_eq!(value.text(), text);
        }
        assert!(Value::Text(Cow::Borrowed(" \u{a0}")).is_blank());
    }

    proptest! {
        #[test]
        fn texts_of_workbook_numbers_agree_with_the_cell(whole in -999_999_999_i64..999_999_999, places in 0_u32..6) {
            let double: f64 = Decimal::new(whole, places).to_string().parse().expect("a number");
            for cell in [Cell::Number(double), Cell::Percent(double)] {
                let value = Value::from_cell(&cell).expect("few digits");
                prop_assert_eq!(value.text(), cell.shown());
            }
        }
    }
}
