//! Errors of dates.

use std::fmt;

use super::month;

/// Why a cell has no valid date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DateError {
    /// The text does not fit the pattern.
    Format {
        pattern: String,
    },
    /// A number is out of range, such as month 13 or hour 25.
    OutOfRange {
        part: &'static str,
        value: u32,
    },
    NoSuchDay {
        year: i16,
        month: i8,
        days: i8,
    },
    /// A placeholder for an unknown date: all zeros, the year 9999, 30 December 1899.
    Placeholder,
    NeedsTimeZone,
    /// A local time skipped when the clocks were set forward.
    Skipped {
        readings: [String; 2],
    },
    /// A local time repeated when the clocks were set back.
    Ambiguous {
        readings: [String; 2],
    },
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
                "add a time zone to the template, such as time_zone = \"Europe/Berlin\"".to_owned()
            }
            DateError::Skipped { readings: [before, after] } => {
                format!("fix the time, or write it in UTC: {before} or {after}")
            }
            DateError::Ambiguous { .. } => "write the right one of the two in UTC".to_owned(),
        }
    }
}

/// The message without the date itself, so that rows with the same problem can be counted together.
impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DateError::Format { pattern } => write!(f, "is not a date written as {pattern}"),
            DateError::OutOfRange { part, value } => write!(f, "has {value} as the {part}"),
            DateError::NoSuchDay { year, month, days } => {
                write!(f, "does not exist: {} {year} has {days} days", month::english(*month))
            }
            DateError::Placeholder => write!(f, "is a placeholder for an unknown date"),
            DateError::NeedsTimeZone => write!(f, "has a time of day but no time zone"),
            DateError::Skipped { .. } => {
                write!(f, "is a time that does not exist, because the clocks were set forward")
            }
            DateError::Ambiguous { readings: [first, second] } => {
                write!(f, "happened twice, at {first} and at {second}, because the clocks were set back")
            }
        }
    }
}
