//! Functions that return one of their arguments, with its type.

use std::cmp::Ordering;

use super::super::compare::order;
use super::super::operand::Operand;
use super::call::Call;
use crate::typed_value::Value;

/// Returns the value, or the replacement. The replacement is evaluated for blanks only.
pub(super) fn default<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    let subject = call.take();
    if call.values.is_empty() { Ok(subject) } else { Ok(call.take()) }
}

/// Returns the last value unless blank. Evaluation has stopped at the first value that is not blank.
pub(super) fn first_of<'v>(mut call: Call<'v>) -> Result<Operand<'v>, String> {
    match call.values.pop() {
        Some(value) if !value.is_blank()? => Ok(value),
        _ => Ok(Value::Blank.into()),
    }
}

pub(super) fn min<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    extreme(call, Ordering::Less)
}

pub(super) fn max<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    extreme(call, Ordering::Greater)
}

/// Returns the minimum or maximum of the values, ignoring blanks. Texts are read as numbers, or as dates if another value is a
/// date.
fn extreme<'v>(call: Call<'v>, wanted: Ordering) -> Result<Operand<'v>, String> {
    let mut best: Option<Operand<'v>> = None;
    for value in call.values {
        if value.is_blank()? {
            continue;
        }
        if matches!(value.value()?, Value::Text(_)) && value.date().is_err() {
            value.number(call.context)?;
        }
        best = match best {
            Some(best) if order(&value, &best, call.context)? != wanted => Some(best),
            _ => Some(value),
        };
    }
    Ok(best.unwrap_or_else(|| Value::Blank.into()))
}
