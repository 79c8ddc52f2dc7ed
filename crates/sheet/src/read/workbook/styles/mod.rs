//! Number formats with an effect on the meaning of a number: leading zeros of identifiers, percentages, currencies, and other
//! text beside or in place of the number. Also the displayed text for all formats.

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
