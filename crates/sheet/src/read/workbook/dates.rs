//! Dates and times of workbooks: serial numbers (days since an epoch), elapsed times, and ISO 8601.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

use crate::Cell;

/// Milliseconds per day.
const DAY: i64 = 86_400_000;

/// Converts a number with a date format, to the millisecond as spreadsheet programs do. A number below 1 is a time, a whole
/// number is a date. Negative numbers, dates past the year 9999 and 1900-02-29, which does not exist, stay numbers.
pub(super) fn from_serial(value: f64, is_1904: bool) -> Cell<'static> {
    civil(value, is_1904).unwrap_or(Cell::Number(value))
}

/// Whether a workbook with dates since 1900 stores `cell`, a value with a number format, as `number`.
pub fn is_stored_as(cell: &Cell<'_>, number: f64) -> bool {
    let midnight = |cell: Cell<'static>| match cell {
        Cell::Date(date) => Cell::DateTime(date.to_datetime(Time::midnight())),
        cell => cell,
    };
    match *cell {
        Cell::Percent(value) | Cell::Money(value, _) | Cell::Formatted(value, _) | Cell::Rounded(value, _) => {
            value == number
        }
        Cell::Time(time) => from_serial(number, false) == Cell::Time(time),
        Cell::Date(date) => from_serial(number, false) == Cell::Date(date),
        Cell::DateTime(at) => midnight(from_serial(number, false)) == Cell::DateTime(at),
        Cell::Blank | Cell::Text(_) | Cell::Number(_) | Cell::Boolean(_) | Cell::Error(_) => false,
    }
}

/// Converts a number of days with a format of elapsed time such as `[h]:mm`. Less than a day is a time; anything else is the
/// error, as text in the format of spreadsheet programs: `36:30:00`.
pub(super) fn from_elapsed_days(value: f64) -> Result<Cell<'static>, String> {
    let Some(milliseconds) = milliseconds(value.abs()) else { return Ok(Cell::Number(value)) };
    if value >= 0.0 && milliseconds < DAY {
        return Ok(time(milliseconds).map_or(Cell::Number(value), Cell::Time));
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let seconds = milliseconds / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Err(format!("{sign}{hours}:{minutes:02}:{seconds:02}"))
}

/// Parses a date, time or both in ISO 8601, as used by strict workbooks. Other text stays text.
pub(super) fn from_iso(text: &str) -> Cell<'_> {
    let bare = text.strip_suffix('Z').unwrap_or(text);
    if bare.contains(['T', ' ']) {
        return bare.parse::<DateTime>().map_or(Cell::Text(text), Cell::DateTime);
    }
    if let Ok(date) = bare.parse::<Date>() {
        return Cell::Date(date);
    }
    bare.parse::<Time>().map_or(Cell::Text(text), Cell::Time)
}

/// Parses a duration in ISO 8601 such as `PT09H30M00S`, as OpenDocument stores times. See [`from_elapsed_days`].
pub(super) fn from_iso_duration(text: &str) -> Result<Cell<'_>, String> {
    match iso_duration(text) {
        Some(days) => from_elapsed_days(days),
        None => Ok(Cell::Text(text)),
    }
}

/// Returns the days of a duration in ISO 8601.
pub(super) fn iso_duration(text: &str) -> Option<f64> {
    text.parse::<SignedDuration>().ok().map(|duration| duration.as_secs_f64() / 86_400.0)
}

/// Returns the time of day of a date, time or both, as a part of a day.
pub(super) fn time_of_day(cell: &Cell<'_>) -> f64 {
    let time = match cell {
        Cell::Time(time) => *time,
        Cell::DateTime(at) => at.time(),
        _ => Time::midnight(),
    };
    time.duration_since(Time::midnight()).as_secs_f64() / 86_400.0
}

fn civil(value: f64, is_1904: bool) -> Option<Cell<'static>> {
    if value < 0.0 {
        return None;
    }
    let total = milliseconds(value)?;
    let (days, rest) = (total / DAY, total % DAY);
    let time = if rest == 0 { Time::midnight() } else { time(rest)? };
    if days == 0 {
        return Some(Cell::Time(time));
    }
    // Days since 1970: adding a duration is several times as fast as adding a calendar span.
    let day = match (is_1904, days) {
        (true, _) => days - 24_107,
        (false, 60) => return None,
        (false, ..60) => days - 25_568,
        (false, _) => days - 25_569,
    };
    let date = Date::constant(1970, 1, 1).checked_add(SignedDuration::from_hours(24 * day)).ok()?;
    Some(if rest == 0 { Cell::Date(date) } else { Cell::DateTime(date.to_datetime(time)) })
}

/// Returns `None` for NaN and dates past the year 9999.
fn milliseconds(days: f64) -> Option<i64> {
    (days < 2_958_466.0).then(|| (days * DAY as f64).round() as i64)
}

fn time(milliseconds: i64) -> Option<Time> {
    Time::midnight().checked_add(SignedDuration::from_millis(milliseconds)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_a_number_format_are_recognized_by_their_number() {
        let (day, noon) = (Date::constant(2026, 1, 2), Time::constant(12, 0, 0, 0));
        for (cell, number, other) in [
            (Cell::Date(day), 46_024.0, 46_024.5),
            (Cell::DateTime(day.to_datetime(noon)), 46_024.5, 46_024.0),
            (Cell::DateTime(day.to_datetime(Time::midnight())), 46_024.0, 46_025.0),
            (Cell::Time(noon), 0.5, 1.5),
            (Cell::Percent(0.19), 0.19, 19.0),
        ] {
            assert!(is_stored_as(&cell, number) && !is_stored_as(&cell, other), "{cell:?}");
        }
        assert!(!is_stored_as(&Cell::Number(1.0), 1.0) && !is_stored_as(&Cell::Text("1"), 1.0));
    }

    #[test]
    fn serial_numbers_become_dates_and_times() {
        for (value, shown) in [
            (45_943.0, "2025-10-13"),
            (45_943.5, "2025-10-13T12:00:00"),
            (45_943.541, "2025-10-13T12:59:02.4"),
            (45_943.395_833_333_336, "2025-10-13T09:30:00"),
            (45_943.395_833_333_1, "2025-10-13T09:30:00"),
            (45_943.999_999_999_99, "2025-10-14"),
            (0.395_833_333_333_333_3, "09:30:00"),
            (0.0, "00:00:00"),
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (60.0, "60"),
            (61.0, "1900-03-01"),
            (2_958_465.0, "9999-12-31"),
            (2_958_466.0, "2958466"),
            (-1.5, "-1.5"),
        ] {
            assert_eq!(from_serial(value, false).shown(), shown, "{value}");
        }
        assert_eq!(from_serial(1.0, true).shown(), "1904-01-02");
        assert!(matches!(from_serial(f64::NAN, false), Cell::Number(_)));
    }

    #[test]
    fn elapsed_times_are_times_up_to_a_day() {
        assert_eq!(from_elapsed_days(0.5).map(|cell| cell.shown().into_owned()), Ok("12:00:00".to_owned()));
        assert_eq!(from_elapsed_days(1.520_833_333_333_333_3), Err("36:30:00".to_owned()));
        assert_eq!(from_elapsed_days(-0.25), Err("-6:00:00".to_owned()));
    }

    #[test]
    fn iso_durations_are_elapsed_times() {
        let shown = |text| from_iso_duration(text).map(|cell| cell.shown().into_owned()).unwrap_or_else(|text| text);
        assert_eq!(shown("PT09H30M00S"), "09:30:00");
        assert_eq!(shown("PT36H30M00.000000000S"), "36:30:00");
        assert_eq!(shown("soon"), "soon");
    }

    #[test]
    fn iso_texts_are_parsed_and_other_texts_stay() {
        for (text, shown) in [
            ("2025-10-13", "2025-10-13"),
            ("2025-10-13T09:30:00Z", "2025-10-13T09:30:00"),
            ("2025-10-13T09:30:00.000", "2025-10-13T09:30:00"),
            ("09:30:00", "09:30:00"),
        ] {
            assert_eq!(from_iso(text).shown(), shown);
            assert!(!matches!(from_iso(text), Cell::Text(_)));
        }
        assert_eq!(from_iso("soon"), Cell::Text("soon"));
    }
}
