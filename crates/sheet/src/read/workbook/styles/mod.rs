//! Number formats with an effect on the meaning of a number: leading zeros of identifiers, percentages, currencies, and other
//! text beside or in place of the number. Also the displayed text for all formats.
//!
//! Format codes of Excel are the common notation; styles of ODS are translated to such codes first. [`NumberFormat`] decides
//! whether a number is an identifier with leading zeros, a percentage, an amount of money, or is shown with other text.
//! `Cell::Formatted` has both the number and the displayed text; each field takes what it needs (`values::number::literal`).
//! `Cell::Rounded` has the displayed number of decimals if the number itself has other decimals; as a value, a decimal with
//! trailing zeros. [`ShownText`] formats any cell like a spreadsheet program in English. If the result differs from the text of the value,
//! the row carries this text with the cell, through the pipe and in the ledger, for text fields. The existing crates (ssfmt, numfmt) round binary
//! doubles: 1.005 would become `1.00`.

mod date_text;
mod decimals;
mod display;
mod leading_zeros;
mod literal;
mod number_format;
mod pattern;
mod section;
mod shown;
mod unit;

pub(super) use self::date_text::Meaning;
pub(super) use self::display::Display;
pub(super) use self::number_format::{BUILT_IN_FORMATS, NumberFormat};
pub(super) use self::shown::{SYSTEM_FORMAT, ShownText};
