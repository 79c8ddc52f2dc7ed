//! Date-times as the service takes and shows them: ISO 8601, kept in UTC to the millisecond.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Milliseconds since 1970 of an ISO 8601 date-time. One without an offset is in UTC, a date alone its first moment.
/// None if it is no date-time of the years 1 to 9999.
pub fn parse(text: &str) -> Option<i64> {
    let timestamp = match text.parse::<Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    let year = timestamp.to_zoned(TimeZone::UTC).year();
    (1..=9999).contains(&year).then(|| timestamp.as_millisecond())
}

/// As it is shown: `2026-01-31T08:30:00.000Z`.
pub fn show(millisecond: i64) -> String {
    // Whatever came through `parse` or from the clock is in range.
    let timestamp = Timestamp::from_millisecond(millisecond).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{timestamp:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_times_are_read_in_their_offset_and_shown_in_utc() {
        let cases = [
            ("2026-01-31T08:30:00Z", "2026-01-31T08:30:00.000Z"),
            ("2026-01-31T08:30:00.123456+02:00", "2026-01-31T06:30:00.123Z"),
            ("2026-01-31 08:30:00", "2026-01-31T08:30:00.000Z"),
            ("2026-01-31T08:30", "2026-01-31T08:30:00.000Z"),
            ("2026-01-31", "2026-01-31T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ];
        for (sent, shown) in cases {
            assert_eq!(parse(sent).map(show).as_deref(), Some(shown), "{sent}");
        }
    }

    #[test]
    fn what_is_no_date_time_is_not_guessed() {
        for bad in [
            "",
            "today",
            "31.01.2026",
            "01/31/2026",
            "2026-02-30",
            "2026-01-31T25:00:00Z",
            "-000001-01-01",
            "1767225600",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
