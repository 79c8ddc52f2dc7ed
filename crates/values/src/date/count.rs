//! Dates as counts of time: serial numbers of spreadsheet programs, and Unix times.

use jiff::civil;
use jiff::{Timestamp, ToSpan};
use rust_decimal::prelude::ToPrimitive;

use super::error::DateError;
use super::iso::ParsedDate;
use crate::decimal::{self, Decimal};

/// A way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Days since the beginning of 1900, as in Excel.
    ExcelSerial,
    UnixSeconds,
    UnixMilliseconds,
}

/// The kinds of counts with their names in templates.
const COUNTS: &[(&str, Count)] =
    &[("excel-serial", Count::ExcelSerial), ("unix", Count::UnixSeconds), ("unix-ms", Count::UnixMilliseconds)];

/// 31 December 9999.
const LAST_SERIAL: i64 = 2_958_465;
/// 29 February 1900, a day that did not exist but has a serial number.
const FALSE_LEAP_DAY: i64 = 60;
const MILLISECONDS_A_DAY: i64 = 86_400_000;
const NANOSECONDS_A_SECOND: i64 = 1_000_000_000;

impl Count {
    pub(super) fn named(name: &str) -> Option<Count> {
        COUNTS.iter().find(|(known, _)| *known == name).map(|(_, count)| *count)
    }

    /// Returns the date of a number. Fails for zero, which stands for no date, and for days that do not exist. Returns `None` for
    /// a text that is not a number of this kind.
    pub(super) fn date(self, text: &str) -> Option<Result<ParsedDate, DateError>> {
        let plain = if text.contains('.') { text.to_owned() } else { text.replace(',', ".") };
        let number = decimal::parse(&plain).ok()?;
        if number.is_zero() {
            return Some(Err(DateError::Placeholder));
        }
        match self {
            Count::ExcelSerial => serial(number),
            Count::UnixSeconds => instant(number.checked_mul(Decimal::from(NANOSECONDS_A_SECOND))?),
            Count::UnixMilliseconds => instant(number.checked_mul(Decimal::from(NANOSECONDS_A_SECOND / 1_000))?),
        }
    }
}

fn serial(number: Decimal) -> Option<Result<ParsedDate, DateError>> {
    let days = number.trunc().to_i64().filter(|days| (1..=LAST_SERIAL).contains(days))?;
    if days == FALSE_LEAP_DAY {
        return Some(Err(DateError::NoSuchDay { year: 1900, month: 2, days: 28 }));
    }
    let before = if days > FALSE_LEAP_DAY { 30 } else { 31 };
    let date = civil::date(1899, 12, before).checked_add(days.days()).ok()?;
    let time = decimal::round(number.fract() * Decimal::from(MILLISECONDS_A_DAY), 0).to_i64()?;
    if time == 0 {
        return Some(Ok(ParsedDate::Date(date)));
    }
    let local = date.at(0, 0, 0, 0).checked_add(whole_seconds(time).milliseconds()).ok()?;
    Some(Ok(ParsedDate::Local(local)))
}

/// Removes the rounding error of a workbook's numbers with 15 digits.
fn whole_seconds(milliseconds: i64) -> i64 {
    let nearest = (milliseconds + 500) / 1_000 * 1_000;
    if (nearest - milliseconds).abs() <= 2 { nearest } else { milliseconds }
}

fn instant(nanoseconds: Decimal) -> Option<Result<ParsedDate, DateError>> {
    Timestamp::from_nanosecond(nanoseconds.to_i128()?).ok().map(|instant| Ok(ParsedDate::Instant(instant)))
}

#[cfg(test)]
mod tests {
    use super::super::{DateFormat, to_iso};

    fn read(format: &str, text: &str) -> Result<String, String> {
        let format = DateFormat::parse(format).expect("a format");
        let zone = jiff::tz::TimeZone::UTC;
        let date = format.parse_date(text).and_then(|date| to_iso(date, Some(&zone)));
        date.map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_that_count_time_are_dates() {
        for (format, text, iso) in [
            ("excel-serial", "2", "1900-01-02"),
            ("excel-serial", "59", "1900-02-28"),
            ("excel-serial", "61", "1900-03-01"),
            ("excel-serial", "46022", "2025-12-31"),
            ("excel-serial", " 46022 ", "2025-12-31"),
            ("excel-serial", "46022.5", "2025-12-31T12:00:00Z"),
            ("excel-serial", "46022,25", "2025-12-31T06:00:00Z"),
            ("excel-serial", "46022.3958333333", "2025-12-31T09:30:00Z"),
            ("excel-serial", "109574", "2199-12-31"),
            ("unix", "1767139200", "2025-12-31T00:00:00Z"),
            ("unix", "1767139200.5", "2025-12-31T00:00:00.5Z"),
            ("unix", "-1", "1969-12-31T23:59:59Z"),
            ("unix-ms", "1767139200123", "2025-12-31T00:00:00.123Z"),
        ] {
            assert_eq!(read(format, text).as_deref(), Ok(iso), "{format} {text}");
        }
    }

    #[test]
    fn other_numbers_and_texts_are_refused() {
        for (format, text, message) in [
            ("excel-serial", "0", "is a placeholder for an unknown date, or has an impossible year"),
            ("unix", "0", "is a placeholder for an unknown date, or has an impossible year"),
            ("excel-serial", "60", "does not exist: February 1900 has 28 days"),
            ("excel-serial", "-1", "is not a date written as excel-serial"),
            ("excel-serial", "2958466", "is not a date written as excel-serial"),
            ("excel-serial", "31.12.2025", "is not a date written as excel-serial"),
            ("unix", "99999999999999999999", "is not a date written as unix"),
            ("unix", "1767139200000", "is not a date written as unix"),
            ("unix-ms", "", "is not a date written as unix-ms"),
            ("unix", "1,767,139", "is not a date written as unix"),
        ] {
            assert_eq!(read(format, text), Err(message.to_owned()), "{format} {text}");
        }
    }
}
