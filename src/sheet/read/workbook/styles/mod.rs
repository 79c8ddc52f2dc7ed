//! Number formats with an effect on the meaning of a number: leading zeros of identifiers, and percentages.

mod leading_zeros;
mod number_format;
mod percent;
mod section;

pub(super) use self::number_format::NumberFormat;
