//! Values in cells: exact decimal numbers, dates, booleans, identifiers and currencies. Pure, and independent of templates and records.
//!
//! | module | purpose |
//! |---|---|
//! | [`decimal`] | exact numbers: no value passes through a float between a CSV and a request |
//! | [`number`] | numbers in human notation, and the number style of a column |
//! | [`date`] | dates, detection of a column's format, time zones |
//! | [`currency`] | codes and signs of currencies, for number formats of workbooks as for texts |
//! | [`identifier`], [`check_digit`], [`error_value`] | damage by spreadsheet programs |
//! | [`boolean`], [`locale`], [`normalize`] | words and notation of languages, and variants of characters |
//! | [`budget`], [`pattern`] | limits on the work of a template from a stranger |
//!
//! Parsing never guesses: a number such as `1.299` or a date such as 03/04/2026 has a value only with the notation of the column, and
//! `mapping::map::survey` decides on the notation. Workbooks store doubles; these become the shortest digits with the same value, at most 15. The words of
//! languages are data files beside the code. The rules of time zones are compiled in; no file is read.

pub mod boolean;
pub mod budget;
pub mod check_digit;
pub mod currency;
pub mod date;
pub mod decimal;
pub mod error_value;
pub mod identifier;
mod initials;
pub mod locale;
pub mod normalize;
pub mod number;
pub mod pattern;
