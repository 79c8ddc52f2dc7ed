//! Functions of numbers.

use sheetport_values::decimal::{self, Decimal};
use sheetport_values::number::{self, NumberError, Percent};

use super::super::arithmetic::{Fault, Operation, calculate};
use super::super::constant::Constant;
use super::super::operand::Operand;
use super::call::Call;
use crate::typed_value::Value;

/// Returns a number unchanged, or parses a text.
pub(super) fn number<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    match (subject.value()?, call.constant) {
        (Value::Text(text), Some(Constant::Locale(locale))) if !text.trim().is_empty() => {
            match number::parse(text, Some(locale), Some(Percent::Fraction)) {
                Ok(number) => Ok(Value::Number(number).into()),
                Err(error) => Err(format!("{} {error}", subject.shown())),
            }
        }
        (Value::Number(_) | Value::Percent(_) | Value::Money(..), _) => Ok(subject),
        _ => Ok(Value::Number(subject.number(call.context)?).into()),
    }
}

pub(super) fn plus<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    operate(Operation::Add, &call)
}

pub(super) fn minus<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    operate(Operation::Subtract, &call)
}

pub(super) fn times<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    operate(Operation::Multiply, &call)
}

pub(super) fn divided_by<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    operate(Operation::DivideTo(places(&call, 2)?), &call)
}

pub(super) fn round<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    let places = places(&call, 1)?;
    change(&call, |number| Ok(decimal::round(number, places)))
}

pub(super) fn integer<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    change(&call, |number| {
        let whole = decimal::to_integer(number);
        whole.ok_or_else(|| format!("{} {}", call.values[0].shown(), NumberError::NotWhole))
    })
}

pub(super) fn abs<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    change(&call, |number| Ok(number.abs()))
}

pub(super) fn floor<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    change(&call, |number| Ok(number.floor()))
}

pub(super) fn ceil<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    change(&call, |number| Ok(number.ceil()))
}

/// Changes the number of a value. Money keeps its currency.
fn change<'v>(call: &Call<'v>, change: impl Fn(Decimal) -> Result<Decimal, String>) -> Result<Operand<'v>, String> {
    let (number, currency) = call.value(0)?.amount(call.context)?;
    let changed = change(number)?;
    Ok(currency.map_or(Value::Number(changed), |currency| Value::Money(changed, currency)).into())
}

fn operate<'v>(operation: Operation, call: &Call<'v>) -> Result<Operand<'v>, String> {
    calculate(operation, call.value(0)?, call.value(1)?, call.context).map(Operand::from).map_err(Fault::into_message)
}

fn places(call: &Call<'_>, index: usize) -> Result<u32, String> {
    let places = call.value(index)?.count(call.context)?;
    u32::try_from(places).map_err(|_| format!("{places} is too many decimals"))
}
