//! Parsed dates, and ISO 8601: the format of requests, and of cells without a detected format.

use std::fmt;

use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, civil};

use super::error::DateError;

/// A date as written in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedDate {
    Date(civil::Date),
    /// A time of day in an unknown time zone.
    Local(civil::DateTime),
    Instant(Timestamp),
}

/// Parses a date, a local time, or a time with an offset from UTC.
pub fn parse(text: &str) -> Result<ParsedDate, DateError> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(ParsedDate::Instant(moment));
    }
    // The parser of date-times takes a date alone for midnight.
    if text.len() <= "2026-01-31".len()
        && let Ok(date) = text.parse::<civil::Date>()
    {
        return Ok(ParsedDate::Date(date));
    }
    match text.parse::<civil::DateTime>() {
        Ok(local) => Ok(ParsedDate::Local(local)),
        Err(_) => Err(DateError::Format { pattern: "YYYY-MM-DD".to_owned() }),
    }
}

/// Formats a date for a request. Local times are converted from `time_zone`. Fails for placeholders, for ambiguous local
/// times, and for local times without a zone.
pub fn to_iso(date: ParsedDate, time_zone: Option<&TimeZone>) -> Result<String, DateError> {
    let local = match date {
        ParsedDate::Instant(instant) => return Ok(instant.to_string()),
        ParsedDate::Date(date) if is_placeholder(date) => return Err(DateError::Placeholder),
        ParsedDate::Date(date) => return Ok(date.to_string()),
        ParsedDate::Local(local) => local,
    };
    if is_placeholder(local.date()) {
        return Err(DateError::Placeholder);
    }
    // Programs write a date alone as midnight. As a number in a workbook, both are the same.
    if time_zone.is_none() && local.time() == civil::Time::midnight() {
        return Ok(local.date().to_string());
    }
    let ambiguous = time_zone.ok_or(DateError::NeedsTimeZone)?.to_ambiguous_timestamp(local);
    let at = |offset: jiff::tz::Offset| match offset.to_timestamp(local) {
        Ok(instant) => Ok(instant.to_string()),
        Err(_) => Err(DateError::Placeholder),
    };
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { offset } => at(offset),
        AmbiguousOffset::Gap { before, after } => Err(DateError::Skipped { readings: [at(before)?, at(after)?] }),
        AmbiguousOffset::Fold { before, after } => Err(DateError::Ambiguous { readings: [at(before)?, at(after)?] }),
    }
}

/// Returns whether programs use this date as a placeholder for an unknown date, or no document of a business can have it: a year
/// without its century, or of another calendar, such as 2569.
pub(super) fn is_placeholder(date: civil::Date) -> bool {
    matches!((date.year(), date.month(), date.day()), (2200.., ..) | (..=1899, ..) | (1900 | 1970, 1, 1))
}

impl fmt::Display for ParsedDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParsedDate::Date(date) => date.fmt(f),
            ParsedDate::Local(local) => local.fmt(f),
            ParsedDate::Instant(instant) => instant.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::zone;
    use super::*;

    #[test]
    fn dates_times_and_moments_are_distinguished() {
        assert_eq!(parse("2026-01-31"), Ok(ParsedDate::Date(civil::date(2026, 1, 31))));
        assert_eq!(parse(" 2026-01-31 08:30 "), Ok(ParsedDate::Local(civil::date(2026, 1, 31).at(8, 30, 0, 0))));
        assert!(matches!(parse("2026-01-31T08:30:00+02:00"), Ok(ParsedDate::Instant(_))));
        for text in ["", "31.01.2026", "2026-02-30", "today", "2026-01-31T25:00"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    fn local(text: &str) -> ParsedDate {
        ParsedDate::Local(text.parse().expect("a civil time"))
    }

    #[test]
    fn dates_stay_dates_and_moments_become_utc() {
        let berlin = zone("Europe/Berlin").expect("a time zone");
        assert_eq!(to_iso(ParsedDate::Date(civil::date(2025, 12, 31)), None).as_deref(), Ok("2025-12-31"));
        assert_eq!(to_iso(local("2025-12-31T10:00"), Some(&berlin)).as_deref(), Ok("2025-12-31T09:00:00Z"));
        assert_eq!(to_iso(local("2025-07-01T10:00"), Some(&berlin)).as_deref(), Ok("2025-07-01T08:00:00Z"));
        let instant = "2025-12-31T09:00:00.25+02:00".parse().expect("a moment");
        assert_eq!(to_iso(ParsedDate::Instant(instant), None).as_deref(), Ok("2025-12-31T07:00:00.25Z"));
        assert_eq!(to_iso(local("2025-12-31T10:00"), None), Err(DateError::NeedsTimeZone));
        assert_eq!(to_iso(local("2025-12-31T00:00"), None).as_deref(), Ok("2025-12-31"));
        assert_eq!(to_iso(local("2025-12-31T00:00"), Some(&berlin)).as_deref(), Ok("2025-12-30T23:00:00Z"));
    }

    #[test]
    fn times_around_a_clock_change_are_errors() {
        let berlin = zone("europe/berlin").expect("a time zone");
        let readings = |first: &str, second: &str| [first.to_owned(), second.to_owned()];
        assert_eq!(
            to_iso(local("2025-10-26T02:30"), Some(&berlin)),
            Err(DateError::Ambiguous { readings: readings("2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z") })
        );
        assert_eq!(
            to_iso(local("2025-03-30T02:30"), Some(&berlin)),
            Err(DateError::Skipped { readings: readings("2025-03-30T01:30:00Z", "2025-03-30T00:30:00Z") })
        );
    }

    #[test]
    fn placeholders_are_errors() {
        for text in ["9999-12-31", "1899-12-30", "0001-01-01"] {
            let date = ParsedDate::Date(text.parse().expect("a date"));
            assert_eq!(to_iso(date, None), Err(DateError::Placeholder));
        }
        let midnight = ParsedDate::Local(civil::date(9999, 12, 31).at(0, 0, 0, 0));
        assert_eq!(to_iso(midnight, Some(&TimeZone::UTC)), Err(DateError::Placeholder));
    }
}
