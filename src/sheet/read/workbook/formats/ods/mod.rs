//! Number formats of OpenDocument sheets, which calamine does not read.

mod flat;
mod marks;
mod styles;

pub(super) use self::flat::as_archive;
pub(super) use self::marks::{Marker, parse_mark};
