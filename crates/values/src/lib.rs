//! Values in cells: exact decimal numbers, dates, booleans, identifiers and currencies. Pure, and independent of templates and records.

pub mod boolean;
pub mod budget;
pub mod check_digit;
pub mod currency;
pub mod date;
pub mod decimal;
pub mod error_value;
pub mod identifier;
pub mod locale;
pub mod normalize;
pub mod number;
pub mod pattern;
