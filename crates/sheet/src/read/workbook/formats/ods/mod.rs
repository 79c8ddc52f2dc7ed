//! Features of OpenDocument sheets missing in calamine: number formats, formulas with boolean results, and formulas without a
//! result.

mod flat;
mod marks;
mod styles;

pub(super) use self::flat::{archive_of, as_archive};
pub(super) use self::marks::{Mark, Marker, parse_mark};
