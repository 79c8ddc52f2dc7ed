//! The errors of parsing and arithmetic.

/// Why there is no exact decimal. The messages follow the number: "'12,9O' is not a number".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    #[error("is not a number")]
    NotANumber,
    #[error("has more than 28 digits")]
    TooManyDigits,
    #[error("has more than 400 decimals")]
    TooManyDecimals,
    #[error("is divided by zero")]
    DivisionByZero,
}
