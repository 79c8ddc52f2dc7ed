//! Parsing of values in cells: numbers, dates, booleans, identifiers, currencies. Pure, and independent of templates and
//! records.

pub(crate) mod boolean;
pub mod budget;
pub mod check_digit;
pub mod date;
pub(crate) mod error_value;
pub mod identifier;
pub mod locale;
pub mod lookup;
pub(in crate::template) mod normalize;
pub mod number;
pub(super) mod pattern;
pub mod typed;
