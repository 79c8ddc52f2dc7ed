//! Errors of dates.

use super::month;

/// The reason why a cell has no valid date. The messages leave out the date itself, so that rows with the same problem can be
/// counted together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    /// The text does not fit the pattern.
    #[error("is not a date written as {pattern}")]
    Format { pattern: String },
    /// A number is out of range, such as month 13 or hour 25.
    #[error("has {value} as the {part}")]
    OutOfRange { part: &'static str, value: u32 },
    #[error("does not exist: {} {year} has {days} days", month::english(*.month))]
    NoSuchDay { year: i16, month: i8, days: i8 },
    /// A placeholder for an unknown date: all zeros, the year 9999, 30 December 1899. Or a year far from ours.
    #[error("is a placeholder for an unknown date, or has an impossible year")]
    Placeholder,
    #[error("has a time of day but no time zone")]
    NeedsTimeZone,
    /// A local time skipped when the clocks were set forward.
    #[error("is a time that does not exist, because the clocks were set forward")]
    Skipped { readings: [String; 2] },
    /// A local time repeated when the clocks were set back.
    #[error("happened twice, at {} and at {}, because the clocks were set back", .readings[0], .readings[1])]
    Ambiguous { readings: [String; 2] },
}

impl DateError {
    /// Returns advice on how to fix the cell or the template.
    pub fn remedy(&self) -> String {
        match self {
            DateError::Format { .. } => {
                "write the date like those in the other rows, or change the template's date format".to_owned()
            }
            DateError::OutOfRange { part: "month", .. } => {
                "fix the cell, or the order of day and month in the template's date format".to_owned()
            }
            DateError::OutOfRange { .. } | DateError::NoSuchDay { .. } => "fix the cell".to_owned(),
            DateError::Placeholder => "leave the cell blank, or write the date".to_owned(),
            DateError::NeedsTimeZone => {
                "name the time zone: --time-zone Europe/Berlin, or time_zone = \"Europe/Berlin\" in [sheet] of the template or in \
                 the profile"
                    .to_owned()
            }
            DateError::Skipped { readings: [before, after] } => {
                format!("fix the time, or write it in UTC: {before} or {after}")
            }
            DateError::Ambiguous { .. } => "write the right one of the two in UTC".to_owned(),
        }
    }
}
