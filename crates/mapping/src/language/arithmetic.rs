//! Exact calculation with numbers and money.

use sheetport_values::decimal::{self, DecimalError};
use sheetport_values::number;

use super::context::Context;
use super::operand::Operand;
use crate::typed_value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Fails unless the exact quotient has at most 28 digits.
    Divide,
    /// Rounds to a number of decimals.
    DivideTo(u32),
}

/// Why there is no result.
pub(super) enum Fault {
    Left(String),
    Right(String),
    /// Both operands are numbers.
    Operation(String),
}

impl Fault {
    pub(super) fn into_message(self) -> String {
        match self {
            Fault::Left(message) | Fault::Right(message) | Fault::Operation(message) => message,
        }
    }
}

/// Calculates exactly. Money keeps its currency; a percentage counts as a fraction.
pub(super) fn calculate(
    operation: Operation,
    left: &Operand<'_>,
    right: &Operand<'_>,
    context: &dyn Context,
) -> Result<Value<'static>, Fault> {
    let (first, first_currency) = left.amount(context).map_err(Fault::Left)?;
    let (second, second_currency) = right.amount(context).map_err(Fault::Right)?;
    let refuse = |message: &str| Err(Fault::Operation(format!("{message}: {} and {}", left.shown(), right.shown())));
    let currency = match (operation, first_currency, second_currency) {
        (Operation::Multiply, Some(_), Some(_)) => return refuse("two amounts of money can't be multiplied"),
        (_, Some(first), Some(second)) if first != second => return refuse("these are in different currencies"),
        (Operation::Divide | Operation::DivideTo(_), None, Some(_)) => {
            return refuse("a number can't be divided by an amount of money");
        }
        (Operation::Divide | Operation::DivideTo(_), _, Some(_)) => None,
        (_, first, second) => first.or(second),
    };
    let result = match operation {
        Operation::Add => decimal::add(first, second),
        Operation::Subtract => decimal::subtract(first, second),
        Operation::Multiply => number::multiply(first, second),
        Operation::Divide => decimal::divide_exactly(first, second),
        Operation::DivideTo(places) => decimal::divide(first, second, places),
    };
    match (result, operation) {
        (Ok(number), _) => Ok(currency.map_or(Value::Number(number), |currency| Value::Money(number, currency))),
        (Err(DecimalError::DivisionByZero), _) => Err(Fault::Operation("this divides by zero".to_owned())),
        (Err(_), Operation::Divide) => Err(Fault::Operation(format!(
            "{first} / {second} has more than 28 digits; round it, here to 2 decimals: | divided_by({second}, 2)"
        ))),
        (Err(_), _) => Err(Fault::Operation("the result has more than 28 digits".to_owned())),
    }
}
