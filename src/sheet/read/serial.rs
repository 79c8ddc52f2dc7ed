//! Workbooks' dates: days counted as floating-point numbers from an epoch, turned into civil dates and times.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

use crate::sheet::Cell;

const DAY: i64 = 86_400_000;

/// What a number means under a date format, to the millisecond, which is what spreadsheet programs keep. A number
/// below 1 is a time, a whole one a date. One that is no date at all (negative, past the year 9999, or 1900-02-29, a
/// day that only spreadsheet programs know) stays a number.
pub fn date(value: f64, is_1904: bool) -> Cell<'static> {
    civil(value, is_1904).unwrap_or(Cell::Number(value))
}

/// What a number means under a format of elapsed time such as `[h]:mm`: a time of less than a day is a time; a longer
/// one is not, and is given as spreadsheet programs show it: 36:30:00.
pub fn elapsed(value: f64) -> Result<Cell<'static>, String> {
    let Some(milliseconds) = milliseconds(value.abs()) else { return Ok(Cell::Number(value)) };
    if value >= 0.0 && milliseconds < DAY {
        return Ok(time(milliseconds).map_or(Cell::Number(value), Cell::Time));
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let seconds = milliseconds / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Err(format!("{sign}{hours}:{minutes:02}:{seconds:02}"))
}

/// A date, time or both in ISO 8601, as strict workbooks have them; text that is none of them stays text.
pub fn iso(text: &str) -> Cell<'_> {
    let bare = text.strip_suffix('Z').unwrap_or(text);
    if bare.contains(['T', ' ']) {
        return bare.parse::<DateTime>().map_or(Cell::Text(text), Cell::DateTime);
    }
    if let Ok(date) = bare.parse::<Date>() {
        return Cell::Date(date);
    }
    bare.parse::<Time>().map_or(Cell::Text(text), Cell::Time)
}

/// A duration in ISO 8601, such as `PT09H30M00S`, which is how OpenDocument stores times; as [`elapsed`] otherwise.
pub fn iso_duration(text: &str) -> Result<Cell<'_>, String> {
    match text.parse::<SignedDuration>() {
        Ok(duration) => elapsed(duration.as_secs_f64() / 86_400.0),
        Err(_) => Ok(Cell::Text(text)),
    }
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
    // Counted from 1970, a duration covers all days that there are, and is added several times as fast as a span of the
    // calendar.
    let day = match (is_1904, days) {
        (true, _) => days - 24_107,
        (false, 60) => return None,
        (false, ..60) => days - 25_568,
        (false, _) => days - 25_569,
    };
    let date = Date::constant(1970, 1, 1).checked_add(SignedDuration::from_hours(24 * day)).ok()?;
    Some(if rest == 0 { Cell::Date(date) } else { Cell::DateTime(date.to_datetime(time)) })
}

/// Nothing for what is past the year 9999 or not a number.
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
    fn serials_become_dates_times_and_both() {
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
            assert_eq!(date(value, false).shown(), shown, "{value}");
        }
        assert_eq!(date(1.0, true).shown(), "1904-01-02");
        assert!(matches!(date(f64::NAN, false), Cell::Number(_)));
    }

    #[test]
    fn elapsed_times_are_times_up_to_a_day() {
        assert_eq!(elapsed(0.5).map(|cell| cell.shown().into_owned()), Ok("12:00:00".to_owned()));
        assert_eq!(elapsed(1.520_833_333_333_333_3), Err("36:30:00".to_owned()));
        assert_eq!(elapsed(-0.25), Err("-6:00:00".to_owned()));
    }

    #[test]
    fn iso_durations_are_elapsed_times() {
        let shown = |text| iso_duration(text).map(|cell| cell.shown().into_owned()).unwrap_or_else(|text| text);
        assert_eq!(shown("PT09H30M00S"), "09:30:00");
        assert_eq!(shown("PT36H30M00.000000000S"), "36:30:00");
        assert_eq!(shown("soon"), "soon");
    }

    #[test]
    fn iso_texts_are_parsed_and_others_left() {
        for (text, shown) in [
            ("2025-10-13", "2025-10-13"),
            ("2025-10-13T09:30:00Z", "2025-10-13T09:30:00"),
            ("2025-10-13T09:30:00.000", "2025-10-13T09:30:00"),
            ("09:30:00", "09:30:00"),
        ] {
            assert_eq!(iso(text).shown(), shown);
            assert!(!matches!(iso(text), Cell::Text(_)));
        }
        assert_eq!(iso("soon"), Cell::Text("soon"));
    }
}
