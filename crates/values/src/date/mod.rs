//! Dates: parsing, detection of formats, and conversion for requests.
//!
//! A [`DateFormat`] parses by a pattern, a [`Detector`] finds the format of a whole column, and [`to_iso`] writes the
//! result: a date stays a date, a time with an offset is converted to UTC, and a local time needs a time zone.

mod additions;
mod count;
mod detect;
mod error;
mod format;
pub mod iso;
mod local;
mod month;
mod write;
mod zone;

pub use detect::{AmbiguousDates, Detected, Detector, MixedDates};
pub use error::DateError;
pub use format::{DateFormat, PatternError};
pub use iso::{ParsedDate, to_iso};
pub use local::{choose_local_zone, local_minute, local_time, local_zone};
pub use month::number as month;
pub use write::DateWriter;
pub use zone::zone;
