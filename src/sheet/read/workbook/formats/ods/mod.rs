//! Number formats of OpenDocument sheets, booleans that are formulas, and formulas without a result, which calamine does not read.

mod flat;
mod marks;
mod styles;

pub(super) use self::flat::{archive_of, as_archive};
pub(super) use self::marks::{Mark, Marker, parse_mark};
