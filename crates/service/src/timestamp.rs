//! Date-times of the service: ISO 8601, in UTC, to the millisecond.

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time, date};
use jiff::fmt::temporal::Pieces;

/// The start of milliseconds.
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// Parses an ISO 8601 date-time into milliseconds since 1970. A date-time without an offset is in UTC; a date alone means
/// midnight. Returns `None` for invalid texts, years outside 1 to 9999, a time zone in brackets (RFC 9557, unsupported by other
/// services), and an offset of a day or more.
pub(super) fn parse(text: &str) -> Option<i64> {
    const DAY: i32 = 24 * 60 * 60;
    let pieces = Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset().map_or(0, |offset| offset.seconds());
    let has_offset_alone = pieces.time().is_none() && pieces.offset().is_some();
    if text.contains('[') || offset.abs() >= DAY || has_offset_alone {
        return None;
    }
    // Not a `Timestamp`, which ends on 30 December 9999: programs write the following day for "no end".
    let local = DateTime::from_parts(pieces.date(), pieces.time().unwrap_or(Time::midnight()));
    let utc = local.checked_sub(SignedDuration::from_secs(offset.into())).ok()?;
    let since = utc.duration_since(EPOCH);
    (1..=9999).contains(&utc.year()).then(|| i64::try_from(since.as_millis()).ok()).flatten()
}

/// Returns whether milliseconds since 1970 are a time that can be formatted.
pub(super) fn is_valid(millisecond: i64) -> bool {
    EPOCH.checked_add(SignedDuration::from_millis(millisecond)).is_ok()
}

/// Formats milliseconds since 1970 as `2026-01-31T08:30:00.000Z`.
pub(super) fn format(millisecond: i64) -> String {
    let utc = EPOCH.checked_add(SignedDuration::from_millis(millisecond));
    format!("{:.3}Z", utc.expect("times are parsed or read from the clock"))
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
            ("9999-12-31", "9999-12-31T00:00:00.000Z"),
            ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59+02:00", "9999-12-31T21:59:59.000Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
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
            "0000-12-31T23:59:59Z",
            "9999-12-31T23:59:59-02:00",
            "2026-01-31+02:00",
            "2026-01-31Z",
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
