//! Functions of dates.

use jiff::{Span, civil};
use sheetport_values::date::ParsedDate;
use sheetport_values::decimal::Decimal;

use super::super::constant::Constant;
use super::super::operand::Operand;
use super::call::Call;
use crate::typed_value::Value;

/// Returns a date unchanged, or parses a text. A time with a UTC offset stays text.
pub(super) fn date<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    match (subject.value()?, call.constant) {
        (Value::Date(_) | Value::DateTime(_), _) => Ok(subject),
        (_, Some(Constant::Date(format))) => match format.parse_date(&subject.as_text()?) {
            Ok(ParsedDate::Date(date)) => Ok(Value::Date(date).into()),
            Ok(ParsedDate::Local(at)) => Ok(Value::DateTime(at).into()),
            Ok(ParsedDate::Instant(instant)) => Ok(Operand::text(instant.to_string())),
            Err(error) => Err(format!("{} {error}", subject.shown())),
        },
        _ => Ok(typed(subject.date()?)),
    }
}

pub(super) fn format<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.value(0)?;
    let (at, has_time) = subject.date()?;
    match call.constant {
        Some(Constant::Output(format)) if format.needs_time() && !has_time => {
            Err(format!("{} is a date without a time", subject.shown()))
        }
        Some(Constant::Output(format)) => Ok(Operand::text(format.write(at))),
        _ => Err("this needs a date pattern".to_owned()),
    }
}

pub(super) fn year<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    part(&call, |at| at.year().into())
}

pub(super) fn month<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    part(&call, |at| at.month().into())
}

pub(super) fn day<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    part(&call, |at| at.day().into())
}

pub(super) fn add_days<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    add(&call, |days| Span::new().try_days(days))
}

/// Adds months. If the month does not have the day, the result is the last day of the month.
pub(super) fn add_months<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    add(&call, |months| Span::new().try_months(months))
}

fn add<'v>(call: &Call<'v>, span: fn(i64) -> Result<Span, jiff::Error>) -> Result<Operand<'v>, String> {
    let (at, has_time) = call.value(0)?.date()?;
    let count = call.value(1)?.whole(call.context)?;
    match span(count).and_then(|span| at.checked_add(span)) {
        Ok(moved) if moved.year() >= 1 => Ok(typed((moved, has_time))),
        _ => Err("the result is not a date of the years 1 to 9999".to_owned()),
    }
}

pub(super) fn days_until<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let (from, to) = (call.value(0)?.date()?.0.date(), call.value(1)?.date()?.0.date());
    let span = from.until(to).map_err(|error| error.to_string())?;
    Ok(Value::Number(Decimal::from(span.get_days())).into())
}

fn part<'v>(call: &Call<'v>, part: fn(civil::DateTime) -> Decimal) -> Result<Operand<'v>, String> {
    Ok(Value::Number(part(call.value(0)?.date()?.0)).into())
}

fn typed<'v>((at, has_time): (civil::DateTime, bool)) -> Operand<'v> {
    if has_time { Value::DateTime(at).into() } else { Value::Date(at.date()).into() }
}
