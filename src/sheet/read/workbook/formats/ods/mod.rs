//! Number formats of OpenDocument sheets, which calamine does not read.

mod marks;
mod styles;

pub(super) use self::marks::{Marker, parse_mark};
