//! From a date as people write it to the one that goes into a request.
//!
//! [`Format`] reads by a person's pattern, [`Detector`] finds the one format that reads a whole column, and [`send`]
//! writes what was read: a date stays a date, a moment becomes UTC, and a local time needs a time zone.

mod detect;
mod format;
pub mod iso;
mod month;
mod order;

use std::fmt;

use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, civil};

pub use detect::{Detected, Detector};
pub use format::{Format, PatternError, TOKENS};
pub use order::{Order, order_of};

use crate::diagnostics::nearest;
use crate::sheet::Cell;

/// What a date's text or cell says, and no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    Date(civil::Date),
    /// A time on some clock: which one, only a time zone tells.
    Local(civil::DateTime),
    Instant(Timestamp),
}

/// Why a text is not a date that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    NotLike {
        pattern: String,
    },
    /// A thirteenth month or a 25th hour.
    OutOfRange {
        part: &'static str,
        value: u32,
    },
    NoSuchDay {
        year: i16,
        month: i8,
        days: i8,
    },
    /// A date that programs write where there is none: all zeros, the year 9999, the day before a calendar's first.
    Placeholder,
    NeedsTimeZone,
    /// The clocks were put forward over this time.
    Skipped {
        readings: [String; 2],
    },
    /// The clocks were put back, and showed this time twice.
    Twice {
        readings: [String; 2],
    },
}

/// A name that is no time zone's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownZone {
    pub name: String,
    pub nearest: Option<String>,
}

/// What goes into the request for `read`; a local time is one of `time_zone`.
pub fn send(read: Read, time_zone: Option<&TimeZone>) -> Result<String, Fault> {
    let local = match read {
        Read::Instant(instant) => return Ok(instant.to_string()),
        Read::Date(date) if is_placeholder(date) => return Err(Fault::Placeholder),
        Read::Date(date) => return Ok(date.to_string()),
        Read::Local(local) => local,
    };
    if is_placeholder(local.date()) {
        return Err(Fault::Placeholder);
    }
    let ambiguous = time_zone.ok_or(Fault::NeedsTimeZone)?.to_ambiguous_timestamp(local);
    let at = |offset: jiff::tz::Offset| match offset.to_timestamp(local) {
        Ok(instant) => Ok(instant.to_string()),
        Err(_) => Err(Fault::Placeholder),
    };
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { offset } => at(offset),
        AmbiguousOffset::Gap { before, after } => Err(Fault::Skipped { readings: [at(before)?, at(after)?] }),
        AmbiguousOffset::Fold { before, after } => Err(Fault::Twice { readings: [at(before)?, at(after)?] }),
    }
}

/// What a workbook's own date says; nothing for any other cell, and for a time without a date.
pub fn from_cell(cell: Cell<'_>) -> Option<Read> {
    match cell {
        Cell::Date(date) => Some(Read::Date(date)),
        Cell::DateTime(local) => Some(Read::Local(local)),
        Cell::Blank | Cell::Text(_) | Cell::Number(_) | Cell::Percent(_) => None,
        Cell::Boolean(_) | Cell::Time(_) | Cell::Error(_) => None,
    }
}

/// The time zone of that name, such as `Europe/Berlin`, by the database within this program: it is the same everywhere.
pub fn zone(name: &str) -> Result<TimeZone, UnknownZone> {
    let name = name.trim();
    TimeZone::get(name).map_err(|_| {
        let known: Vec<String> = jiff::tz::db().available().map(|zone| zone.to_string()).collect();
        // A city alone is the usual slip, and its continent makes the whole unlike it.
        let city = |zone: &&String| zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(name));
        let nearest = known.iter().find(city).cloned();
        let nearest = nearest.or_else(|| self::nearest(name, known.iter().map(String::as_str)).map(str::to_owned));
        UnknownZone { name: name.to_owned(), nearest }
    })
}

fn is_placeholder(date: civil::Date) -> bool {
    matches!((date.year(), date.month(), date.day()), (9999.., ..) | (..=1, ..) | (1899, 12, 30 | 31))
}

impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Read::Date(date) => date.fmt(f),
            Read::Local(local) => local.fmt(f),
            Read::Instant(instant) => instant.fmt(f),
        }
    }
}

/// What is wrong, without the value itself, so that rows with one cause can be counted together.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotLike { pattern } => write!(f, "is not a date written as {pattern}"),
            Fault::OutOfRange { part, value } => write!(f, "has {value} where the {part} stands"),
            Fault::NoSuchDay { year, month, days } => {
                write!(f, "is a day that does not exist: {} {year} has {days} days", month::english(*month))
            }
            Fault::Placeholder => write!(f, "stands for a date that is not known"),
            Fault::NeedsTimeZone => write!(f, "has a time of day, and no time zone is given"),
            Fault::Skipped { .. } => write!(f, "is a time that does not exist, because the clocks were put forward"),
            Fault::Twice { readings: [first, second] } => {
                write!(f, "is a time that the clocks showed twice, at {first} and at {second}")
            }
        }
    }
}

impl Fault {
    /// What a person can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Fault::NotLike { .. } => "write it as the other rows do, or correct the template's date format".to_owned(),
            Fault::OutOfRange { part: "month", .. } => {
                "correct the cell, or the order of day and month in the template's date format".to_owned()
            }
            Fault::OutOfRange { .. } | Fault::NoSuchDay { .. } => "correct the cell".to_owned(),
            Fault::Placeholder => "leave the cell blank, or write the date".to_owned(),
            Fault::NeedsTimeZone => "add a time zone to the template, such as time_zone = \"Europe/Berlin\"".to_owned(),
            Fault::Skipped { readings: [before, after] } => {
                format!("correct the time, or write the moment in UTC: {before} or {after}")
            }
            Fault::Twice { .. } => "write the one that is meant, in UTC".to_owned(),
        }
    }
}

impl fmt::Display for UnknownZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no time zone", self.name)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean '{nearest}'?"),
            None => write!(f, "; name one as continent and city, such as 'Europe/Berlin', or 'UTC'"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> Read {
        Read::Local(text.parse().expect("a civil time"))
    }

    #[test]
    fn dates_stay_dates_and_moments_become_utc() {
        let berlin = zone("Europe/Berlin").expect("a time zone");
        assert_eq!(send(Read::Date(civil::date(2025, 12, 31)), None).as_deref(), Ok("2025-12-31"));
        assert_eq!(send(local("2025-12-31T10:00"), Some(&berlin)).as_deref(), Ok("2025-12-31T09:00:00Z"));
        assert_eq!(send(local("2025-07-01T10:00"), Some(&berlin)).as_deref(), Ok("2025-07-01T08:00:00Z"));
        let instant = "2025-12-31T09:00:00.25+02:00".parse().expect("a moment");
        assert_eq!(send(Read::Instant(instant), None).as_deref(), Ok("2025-12-31T07:00:00.25Z"));
        assert_eq!(send(local("2025-12-31T10:00"), None), Err(Fault::NeedsTimeZone));
    }

    #[test]
    fn times_at_a_change_of_clocks_are_not_guessed() {
        let berlin = zone("europe/berlin").expect("a time zone");
        let readings = |first: &str, second: &str| [first.to_owned(), second.to_owned()];
        assert_eq!(
            send(local("2025-10-26T02:30"), Some(&berlin)),
            Err(Fault::Twice { readings: readings("2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z") })
        );
        assert_eq!(
            send(local("2025-03-30T02:30"), Some(&berlin)),
            Err(Fault::Skipped { readings: readings("2025-03-30T01:30:00Z", "2025-03-30T00:30:00Z") })
        );
    }

    #[test]
    fn placeholders_are_not_sent_from_a_workbook_either() {
        for text in ["9999-12-31", "1899-12-30", "0001-01-01"] {
            let date = from_cell(Cell::Date(text.parse().expect("a date"))).expect("a date");
            assert_eq!(send(date, None), Err(Fault::Placeholder));
        }
        let midnight = from_cell(Cell::DateTime(civil::date(9999, 12, 31).at(0, 0, 0, 0))).expect("a date");
        assert_eq!(send(midnight, Some(&TimeZone::UTC)), Err(Fault::Placeholder));
        assert_eq!(from_cell(Cell::Time(civil::time(9, 0, 0, 0))), None);
        assert_eq!(from_cell(Cell::Number(45_000.0)), None);
    }

    #[test]
    fn time_zones_are_found_by_name_and_the_nearest_is_suggested() {
        for name in ["UTC", "Europe/Berlin", "america/new_york", "Asia/Tokyo", "America/Argentina/Buenos_Aires"] {
            assert!(zone(name).is_ok(), "{name}");
        }
        for (name, meant) in
            [("Berlin", "Europe/Berlin"), ("Europe/Berlyn", "Europe/Berlin"), ("new_york", "America/New_York")]
        {
            assert_eq!(zone(name).expect_err("unknown").nearest.as_deref(), Some(meant), "{name}");
        }
        assert!(zone("").is_err());
    }
}
