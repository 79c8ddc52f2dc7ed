//! Comparison of values. Different types are an error, unless a text can only be meant as the other type.

use std::cmp::Ordering;

use jiff::civil;
use sheetport_values::boolean;
use sheetport_values::currency::CurrencyMark;
use sheetport_values::date::{Detected, Detector, ParsedDate, iso};
use sheetport_values::decimal::Decimal;
use sheetport_values::number::NumberError;

use super::context::Context;
use super::error::BLANK;
use super::operand::{Operand, plain_number};
use crate::typed_value::Value;

/// A value in comparable form.
#[derive(PartialEq)]
enum Key<'a> {
    Text(&'a str),
    Number(Decimal, Option<CurrencyMark>),
    Boolean(bool),
    Date(civil::DateTime),
    Time(civil::Time),
}

/// Returns whether two values are equal. Texts are compared exactly, dates in ISO 8601 as dates; a blank equals only a blank.
pub(super) fn equal(left: &Operand<'_>, right: &Operand<'_>, context: &dyn Context) -> Result<bool, String> {
    match (left.value()?, right.value()?) {
        (left, right) if left.is_blank() || right.is_blank() => Ok(left.is_blank() && right.is_blank()),
        (Value::Text(first), Value::Text(second)) if first == second => Ok(true),
        (Value::Text(first), Value::Text(second)) => match [iso_date(first), iso_date(second)] {
            [Some(_), None] if !is_date(second) => Ok(false),
            [None, Some(_)] if !is_date(first) => Ok(false),
            dates => Ok(date_order(left, right, dates, context)? == Some(Ordering::Equal)),
        },
        (number, Value::Text(text)) | (Value::Text(text), number)
            if is_number(number)
                && !matches!(number, Value::Formatted(..))
                && (plain_number(text) == Err(NumberError::NotANumber) || is_code(text)) =>
        {
            Ok(false)
        }
        _ => Ok(compare(left, right, context)? == Ordering::Equal),
    }
}

/// Returns the order of two values. Two texts are compared as dates if one is a date in ISO 8601, as numbers if both are numbers,
/// otherwise letter by letter.
pub(super) fn order(left: &Operand<'_>, right: &Operand<'_>, context: &dyn Context) -> Result<Ordering, String> {
    for operand in [left, right] {
        if operand.value()?.is_blank() {
            return Err(format!("{BLANK} has no order; add a replacement: (Column | default(0))"));
        }
    }
    let (Value::Text(first), Value::Text(second)) = (left.value()?, right.value()?) else {
        return compare(left, right, context);
    };
    if let Some(order) = date_order(left, right, [iso_date(first), iso_date(second)], context)? {
        return Ok(order);
    }
    match (left.number(context), right.number(context)) {
        (Ok(left), Ok(right)) => Ok(left.cmp(&right)),
        (Err(_), Err(_)) if [first, second].iter().all(|text| plain_number(text) == Err(NumberError::NotANumber)) => {
            match [first, second].iter().all(|text| is_date(text)) {
                // Letter by letter, 15.01.2026 would be later than 01.02.2026.
                true => Ok(left.date()?.0.cmp(&right.date()?.0)),
                false => Ok(first.cmp(second)),
            }
        }
        (Err(error), _) | (_, Err(error)) => {
            Err(format!("{} and {} can't be compared: {error}", left.shown(), right.shown()))
        }
    }
}

/// Compares two different texts as dates if any is in ISO 8601. Fails if only one is: letter by letter, `31.12.2025` would be later
/// than `2026-01-01`. Returns `None` for texts to compare letter by letter: no dates, and a time with an offset from UTC beside one
/// without, if the time zone of the latter is unknown.
fn date_order(
    left: &Operand<'_>,
    right: &Operand<'_>,
    dates: [Option<ParsedDate>; 2],
    context: &dyn Context,
) -> Result<Option<Ordering>, String> {
    match dates {
        [None, None] => Ok(None),
        [Some(ParsedDate::Instant(left)), Some(ParsedDate::Instant(right))] => Ok(Some(left.cmp(&right))),
        [Some(left), Some(right)] => {
            Ok(local_time(left, context).zip(local_time(right, context)).map(|(left, right)| left.cmp(&right)))
        }
        [Some(_), None] => right.date().map(|_| None),
        [None, Some(_)] => left.date().map(|_| None),
    }
}

/// Returns the local time of a date, which is midnight without a time of day, or `None` for a time with an offset from UTC if the
/// time zone is unknown.
fn local_time(date: ParsedDate, context: &dyn Context) -> Option<civil::DateTime> {
    match date {
        ParsedDate::Date(date) => Some(date.to_datetime(civil::Time::midnight())),
        ParsedDate::Local(at) => Some(at),
        ParsedDate::Instant(instant) => context.time_zone().map(|zone| zone.to_datetime(instant)),
    }
}

/// Parses a date, or a date and time, in ISO 8601 with hyphens.
fn iso_date(text: &str) -> Option<ParsedDate> {
    let text = text.trim();
    let may_be_date = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('-');
    if may_be_date { iso::parse(text).ok() } else { None }
}

/// Whether a text is a date in any notation.
fn is_date(text: &str) -> bool {
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let mut detector = Detector::new(None);
    detector.add(0, text);
    !matches!(detector.finish(), Detected::NoDates)
}

fn compare(left: &Operand<'_>, right: &Operand<'_>, context: &dyn Context) -> Result<Ordering, String> {
    let mixed = || {
        let describe = |operand: &Operand<'_>| match operand.value() {
            Ok(value) => format!("{} is {}", operand.shown(), value.kind()),
            Err(message) => message,
        };
        format!("these can't be compared: {}, and {}", describe(left), describe(right))
    };
    let first = key(left, right, context)?.ok_or_else(mixed)?;
    let second = key(right, left, context)?.ok_or_else(mixed)?;
    match (first, second) {
        (Key::Text(first), Key::Text(second)) => Ok(first.cmp(second)),
        (Key::Number(_, Some(first)), Key::Number(_, Some(second))) if first != second => {
            Err(format!("{} and {} are in different currencies", left.shown(), right.shown()))
        }
        (Key::Number(first, _), Key::Number(second, _)) => Ok(first.cmp(&second)),
        (Key::Boolean(first), Key::Boolean(second)) => Ok(first.cmp(&second)),
        (Key::Date(first), Key::Date(second)) => Ok(first.cmp(&second)),
        (Key::Time(first), Key::Time(second)) => Ok(first.cmp(&second)),
        _ => Err(mixed()),
    }
}

/// Converts a value for a comparison with another. Parses a text as the type of the other value. Returns `None` if the text does
/// not have this type.
fn key<'a>(operand: &'a Operand<'_>, other: &Operand<'_>, context: &dyn Context) -> Result<Option<Key<'a>>, String> {
    Ok(match operand.value()? {
        Value::Number(number) | Value::Percent(number) => Some(Key::Number(*number, None)),
        Value::Money(amount, currency) => Some(Key::Number(*amount, Some(*currency))),
        Value::Formatted(_, shown) => match other.value()? {
            // 5001 displayed as R-5001, compared with a non-numeric text.
            Value::Text(text) if plain_number(text) == Err(NumberError::NotANumber) => Some(Key::Text(shown)),
            Value::Formatted(..) => Some(Key::Text(shown)),
            _ => operand.amount(context).map(|(number, currency)| Some(Key::Number(number, currency)))?,
        },
        Value::Boolean(boolean) => Some(Key::Boolean(*boolean)),
        Value::Date(_) | Value::DateTime(_) => Some(Key::Date(operand.date()?.0)),
        Value::Time(time) => Some(Key::Time(*time)),
        Value::Text(text) => match other.value()? {
            Value::Formatted(..) if plain_number(text) == Err(NumberError::NotANumber) => Some(Key::Text(text)),
            Value::Text(_) => Some(Key::Text(text)),
            Value::Boolean(_) => boolean::parse(text).map(Key::Boolean),
            Value::Date(_) | Value::DateTime(_) => {
                iso::parse(text).ok().and_then(|date| local_time(date, context)).map(Key::Date)
            }
            Value::Time(_) => text.trim().parse().ok().map(Key::Time),
            other if is_number(other) => match operand.number(context) {
                Ok(number) => Some(Key::Number(number, None)),
                Err(_) if plain_number(text) == Err(NumberError::NotANumber) => None,
                Err(error) => return Err(error),
            },
            _ => None,
        },
        Value::Blank | Value::Error(_) => None,
    })
}

/// Whether a text consists of digits with a leading zero, which are an identifier.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Number(_) | Value::Percent(_) | Value::Money(..) | Value::Formatted(..))
}
