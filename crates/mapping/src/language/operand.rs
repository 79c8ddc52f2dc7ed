//! Values during the evaluation of an expression, and their conversions.

use std::borrow::Cow;

use jiff::civil;
use sheetport_values::currency::CurrencyMark;
use sheetport_values::date::{ParsedDate, iso};
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::number::{self, NumberError, Percent, literal};

use super::context::Context;
use super::error::BLANK;
use crate::typed_value::Value;

/// Maximum length of texts in bytes, as in a workbook's cell.
pub(super) const MAX_LENGTH: usize = 32 * 1024;

const CHOOSE_PART: &str = "these are several texts; take one, as in split(\"-\")[0], or join them";

/// A value with its origin.
#[derive(Clone, Debug)]
pub(super) struct Operand<'v> {
    pub(super) item: Item<'v>,
    /// The column of an unchanged cell, to find the number style.
    pub(super) column: Option<usize>,
    /// The displayed text of an unchanged workbook cell, if different from the text of its value.
    shown: Option<&'v str>,
    /// Whether a number in the text has a decimal point and no groups, as on a command line.
    is_plain: bool,
    /// The function that returned the value, for messages.
    step: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) enum Item<'v> {
    Value(Value<'v>),
    List(Vec<Value<'v>>),
    /// No value, such as a part beyond the end of a list, with the reason.
    Missing(String),
}

impl Item<'_> {
    /// Returns the bytes of texts.
    pub(super) fn text_len(&self) -> usize {
        let length = |value: &Value<'_>| match value {
            Value::Text(text) => text.len(),
            _ => 0,
        };
        match self {
            Item::Value(value) => length(value),
            Item::List(values) => values.iter().map(|value| size_of::<Value<'_>>() + length(value)).sum(),
            Item::Missing(_) => 0,
        }
    }
}

impl<'v> From<Value<'v>> for Operand<'v> {
    fn from(value: Value<'v>) -> Operand<'v> {
        Item::Value(value).into()
    }
}

impl<'v> From<Item<'v>> for Operand<'v> {
    fn from(item: Item<'v>) -> Operand<'v> {
        Operand { item, column: None, shown: None, is_plain: false, step: None }
    }
}

impl<'v> Operand<'v> {
    pub(super) fn text(text: impl Into<Cow<'v, str>>) -> Operand<'v> {
        Value::Text(text.into()).into()
    }

    pub(super) fn cell(value: Value<'v>, shown: Option<&'v str>, column: usize) -> Operand<'v> {
        Operand { column: Some(column), shown, ..value.into() }
    }

    /// Returns a value from outside the sheet.
    pub(super) fn plain(value: Value<'v>) -> Operand<'v> {
        Operand { is_plain: true, ..value.into() }
    }

    pub(super) fn missing(reason: impl Into<String>) -> Operand<'v> {
        Item::Missing(reason.into()).into()
    }

    /// Sets the function that returned the value, unless the function returned its argument unchanged.
    pub(super) fn after(self, step: &'static str) -> Operand<'v> {
        Operand { step: self.step.or(if self.column.is_some() { None } else { Some(step) }), ..self }
    }

    pub(super) fn value(&self) -> Result<&Value<'v>, String> {
        match &self.item {
            Item::Value(value) => Ok(value),
            Item::List(_) => Err(CHOOSE_PART.to_owned()),
            Item::Missing(reason) => Err(reason.clone()),
        }
    }

    pub(super) fn into_value(self) -> Result<Value<'v>, String> {
        match self.item {
            Item::Value(value) => Ok(value),
            Item::List(_) => Err(CHOOSE_PART.to_owned()),
            Item::Missing(reason) => Err(reason),
        }
    }

    /// Returns the value as the result of an expression. A text with a plain number becomes a number, so that it is not read in
    /// the style of a column.
    pub(super) fn into_result(self) -> Result<Value<'v>, String> {
        if let Some(shown) = self.shown {
            return Ok(Value::Text(shown.into()));
        }
        let is_plain = self.is_plain;
        Ok(match self.into_value()? {
            Value::Text(text) if is_plain => match decimal::parse(&text) {
                Ok(number) if number.to_string() == text => Value::Number(number),
                _ => Value::Text(text),
            },
            value => value,
        })
    }

    pub(super) fn as_text(&self) -> Result<Cow<'_, str>, String> {
        self.shown.map_or_else(|| self.value().map(Value::text), |shown| Ok(shown.into()))
    }

    pub(super) fn into_text(self) -> Result<Cow<'v, str>, String> {
        Ok(match (self.shown, self.into_value()?) {
            (Some(shown), _) => shown.into(),
            (None, Value::Text(text) | Value::Error(text)) => text,
            (None, other) => Cow::Owned(other.text().into_owned()),
        })
    }

    /// Returns whether the value is missing or blank.
    pub(super) fn is_blank(&self) -> Result<bool, String> {
        match &self.item {
            Item::Missing(_) => Ok(true),
            _ => Ok(self.value()?.is_blank()),
        }
    }

    /// Returns whether a condition is met: by any value that is neither blank nor FALSE.
    pub(super) fn is_true(&self) -> Result<bool, String> {
        match &self.item {
            Item::List(list) => Ok(!list.is_empty()),
            _ => match self.value()? {
                Value::Boolean(boolean) => Ok(*boolean),
                value => Ok(!value.is_blank()),
            },
        }
    }

    /// Returns the number for calculations. Fails for a text that is not a number in the style of its column; a text without a
    /// column must be a plain decimal.
    pub(super) fn number(&self, context: &dyn Context) -> Result<Decimal, String> {
        self.amount(context).map(|(number, _)| number)
    }

    /// Returns the number for calculations, and the currency of money.
    pub(super) fn amount(&self, context: &dyn Context) -> Result<(Decimal, Option<CurrencyMark>), String> {
        let value = self.value()?;
        match value {
            Value::Number(number) | Value::Percent(number) => Ok((*number, None)),
            Value::Money(amount, currency) => Ok((*amount, Some(*currency))),
            Value::Formatted(number, shown) => match literal::beside(*number, shown, false) {
                Ok(beside) if beside.has_percent_sign => {
                    let fraction = number::multiply(*number, Decimal::new(1, 2)).map_err(|error| error.to_string())?;
                    Ok((fraction, None))
                }
                Ok(beside) => Ok((*number, beside.currency)),
                Err(error) => Err(format!("{} {error}", self.shown())),
            },
            _ if value.is_blank() => Err(format!("{BLANK} is not a number; add a replacement: (Column | default(0))")),
            Value::Text(text) => match self.column {
                Some(column) => context.amount(column),
                None if self.is_plain => {
                    let number = decimal::parse(text.trim()).map_err(|_| {
                        format!(
                            "{} is not a number with a decimal point and without groups, such as 1234.5",
                            self.shown()
                        )
                    });
                    number.map(|number| (number, None))
                }
                None => plain_number(text).map(|number| (number, None)).map_err(|error| {
                    let hint = match error {
                        NumberError::Ambiguous(_) => "; say how it is written: | number(\"de\")",
                        _ => "",
                    };
                    format!("{} {error}{hint}", self.shown())
                }),
            },
            Value::Date(_) | Value::DateTime(_) => Err(format!(
                "{} is {}, not a number; dates are calculated with add_days, add_months and days_until",
                self.shown(),
                value.kind()
            )),
            _ => Err(format!("{} is {}, not a number", self.shown(), value.kind())),
        }
    }

    /// Returns a whole number for counts and positions.
    pub(super) fn whole(&self, context: &dyn Context) -> Result<i64, String> {
        let whole = decimal::to_integer(self.number(context)?).and_then(|number| i64::try_from(number).ok());
        whole.ok_or_else(|| format!("{} can't be used here; write a whole number", self.shown()))
    }

    /// Returns a non-negative whole number.
    pub(super) fn count(&self, context: &dyn Context) -> Result<i64, String> {
        match self.whole(context)? {
            count @ 0.. => Ok(count),
            count => Err(format!("{count} is negative")),
        }
    }

    /// Returns the date, and whether it has a time. Fails for texts that are not in ISO 8601.
    pub(super) fn date(&self) -> Result<(civil::DateTime, bool), String> {
        let value = self.value()?;
        match value {
            Value::Date(date) => Ok((date.to_datetime(civil::Time::midnight()), false)),
            Value::DateTime(at) => Ok((*at, true)),
            _ if value.is_blank() => Err(format!("{BLANK} is not a date")),
            Value::Text(text) => match iso::parse(text) {
                Ok(ParsedDate::Date(date)) => Ok((date.to_datetime(civil::Time::midnight()), false)),
                Ok(ParsedDate::Local(at)) => Ok((at, true)),
                Ok(ParsedDate::Instant(_)) => {
                    Err(format!("{} has an offset from UTC, which dates here can't have", self.shown()))
                }
                Err(_) => {
                    Err(format!("{} is text, not a date; say how it is written: | date(\"DD.MM.YYYY\")", self.shown()))
                }
            },
            _ => Err(format!("{} is {}, not a date", self.shown(), value.kind())),
        }
    }

    /// Quotes the value for messages, with the function that returned it.
    pub(super) fn shown(&self) -> String {
        let text = match self.as_text() {
            Ok(text) => quoted(&text),
            Err(_) => "this".to_owned(),
        };
        match self.step {
            Some(step) => format!("{text} after {step}"),
            None => text,
        }
    }
}

/// Parses an unambiguous number: `1234.50`, `1,5` or `0.125`, but not `1.234`.
pub(super) fn plain_number(text: &str) -> Result<Decimal, NumberError> {
    number::parse(text, None, Some(Percent::Fraction))
}

/// Quotes the start of a text.
pub(super) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let start: String = text.chars().take(MAX_CHARS).collect();
    if start.len() < text.len() { format!("'{start}…'") } else { format!("'{start}'") }
}

/// Checks the length of a text.
pub(super) fn fits(length: usize) -> Result<(), String> {
    if length > MAX_LENGTH { Err("the text is longer than 32 KiB".to_owned()) } else { Ok(()) }
}
