//! Date-times of the service: ISO 8601, in UTC, to the millisecond.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

/// Parses an ISO 8601 date-time into milliseconds since 1970. A date-time without an offset is in UTC; a date alone means
/// midnight. Returns `None` for invalid texts, years outside 1 to 9999, a time zone in brackets (RFC 9557, unsupported by other
/// services), and an offset of a day or more.
pub(super) fn parse(text: &str) -> Option<i64> {
    const DAY: i32 = 24 * 60 * 60;
    let offset = Pieces::parse(text).ok()?.to_numeric_offset();
    if text.contains('[') || offset.is_some_and(|offset| offset.seconds().abs() >= DAY) {
        return None;
    }
    let timestamp = match text.parse::<Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    let year = timestamp.to_zoned(TimeZone::UTC).year();
    (1..=9999).contains(&year).then(|| timestamp.as_millisecond())
}

/// Formats milliseconds since 1970 as `2026-01-31T08:30:00.000Z`.
pub(super) fn format(millisecond: i64) -> String {
    let timestamp = Timestamp::from_millisecond(millisecond).expect("times are parsed or read from the clock");
    format!("{timestamp:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_times_are_converted_to_utc() {
        let cases = [
            ("2026-01-31T08:30:00Z", "2026-01-31T08:30:00.000Z"),
            ("2026-01-31T08:30:00.123456+02:00", "2026-01-31T06:30:00.123Z"),
            ("2026-01-31 08:30:00", "2026-01-31T08:30:00.000Z"),
            ("2026-01-31T08:30:00-23:59", "2026-02-01T08:29:00.000Z"),
            ("2026-01-31T08:30", "2026-01-31T08:30:00.000Z"),
            ("2026-01-31", "2026-01-31T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ];
        for (sent, formatted) in cases {
            assert_eq!(parse(sent).map(format).as_deref(), Some(formatted), "{sent}");
        }
    }

    #[test]
    fn invalid_date_times_are_rejected() {
        for bad in [
            "",
            "today",
            "31.01.2026",
            "01/31/2026",
            "2026-02-30",
            "2026-01-31T25:00:00Z",
            "-000001-01-01",
            "1767225600",
            "2026-01-31T08:30:00+09:00[Asia/Tokyo]",
            "2026-01-31T08:30:00[Asia/Tokyo]",
            "2026-01-31T08:30:00Z[u-ca=gregory]",
            "2026-01-31T08:30:00-25:00",
            "2026-01-31T08:30:00+24:00",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
