//! Number formats with an effect on the meaning of a number: leading zeros of identifiers, percentages,
//! currencies, and other text beside or instead of the number.

mod decimals;
mod display;
mod leading_zeros;
mod literal;
mod number_format;
mod section;
mod unit;

pub(super) use self::display::Display;
pub(super) use self::number_format::{BUILT_IN_FORMATS, NumberFormat};
