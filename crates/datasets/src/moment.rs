//! Times as microseconds since 1970.

use std::borrow::Cow;

/// Returns the microseconds of an ISO 8601 time with an offset, or `None` for any other text and for a time with finer digits.
pub(crate) fn micros(text: &str) -> Option<i64> {
    // What stands in brackets, such as the name of a zone, would be lost.
    let is_time = text.len() >= "2026-01-02T03:04Z".len() && text.as_bytes()[0].is_ascii_digit() && !text.contains('[');
    let time: jiff::Timestamp = is_time.then(|| text.parse().ok()).flatten()?;
    (time.subsec_nanosecond() % 1_000 == 0).then(|| time.as_microsecond())
}

/// Whether a time is given in UTC, so that its offset says nothing.
pub(crate) fn is_utc(text: &str) -> bool {
    text.ends_with('Z') || text.ends_with("+00:00")
}

/// Returns a time of [`micros`] as text in UTC, which sorts by time.
pub(crate) fn in_utc(text: &str) -> Option<Cow<'_, str>> {
    let micros = micros(text)?;
    // Most times are already as they would be written. A leap second is not.
    let bytes = text.as_bytes();
    let is_so = bytes.len() == "2026-01-02T03:04:05Z".len()
        && (bytes[10], bytes[13], bytes[16], bytes[19]) == (b'T', b':', b':', b'Z')
        && !text.ends_with(":60Z");
    if is_so { Some(Cow::Borrowed(text)) } else { utc_text(micros).map(Cow::Owned) }
}

fn utc_text(micros: i64) -> Option<String> {
    jiff::Timestamp::from_microsecond(micros).ok().map(|time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_to_the_microsecond() {
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", Some("2026-01-02T03:04:05Z")),
            ("2026-01-02t03:04:05z", Some("2026-01-02T03:04:05Z")),
            ("2026-01-02 03:04:05Z", Some("2026-01-02T03:04:05Z")),
            ("2026-12-31T23:59:60Z", Some("2026-12-31T23:59:59Z")),
            ("2026-01-02T03:04:05.120Z", Some("2026-01-02T03:04:05.12Z")),
            ("2026-02-30T03:04:05Z", None),
            ("2026-01-02T03:04:05.123456+02:00", Some("2026-01-02T01:04:05.123456Z")),
            ("2026-01-02T03:04:05.1234567Z", None),
            ("2026-01-02T03:04:05", None),
            ("2026-01-02", None),
            ("2026-01-02T03:04:05+01:00[Europe/Berlin]", None),
            ("20260102", None),
            ("a time in the year 2026", None),
        ] {
            assert_eq!(in_utc(text).as_deref(), expected, "{text}");
        }
    }
}
