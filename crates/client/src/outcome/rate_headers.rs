//! Rate-limit headers of a response: when to come back, and how many requests are left.

use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Remaining requests before the limit is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub remaining: u64,
    /// Time until the limit is reset.
    pub reset: Duration,
}

/// Returns the value of Retry-After, with a date converted to seconds from the service's own clock (the Date header).
/// Returns `None` for statuses without a retry.
pub(crate) fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    if !matches!(status.as_u16(), 408 | 423 | 425 | 429 | 500..) {
        return None;
    }
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    Some(match date(value) {
        Some(until) => until.saturating_sub(now(headers)).max(0).to_string(),
        None => value.to_owned(),
    })
}

/// Reads the common RateLimit headers: a header per number, with or without `X-`, or a combined header such as
/// `limit=10, remaining=0, reset=7` or `"default";r=0;t=7`. Returns `None` unless both numbers are present and valid.
pub(crate) fn quota(headers: &HeaderMap) -> Option<Quota> {
    // Larger values are seconds since 1970, not a duration.
    const EPOCH: f64 = 1e9;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |text: &str| text.trim().split([';', ',']).next()?.trim().parse::<f64>().ok();
    let either = |name: &str, x_name: &str| text(name).or_else(|| text(x_name)).and_then(number);
    let (remaining, reset) = match text("ratelimit") {
        Some(all) => {
            let of = |names: [&str; 2]| {
                all.split([';', ','])
                    .filter_map(|part| part.split_once('='))
                    .find_map(|(name, value)| names.contains(&name.trim()).then(|| number(value)).flatten())
            };
            (of(["remaining", "r"]), of(["reset", "t"]))
        }
        None => {
            (either("ratelimit-remaining", "x-ratelimit-remaining"), either("ratelimit-reset", "x-ratelimit-reset"))
        }
    };
    let valid = |number: f64| (0.0..1e15).contains(&number).then_some(number);
    let (remaining, reset) = (valid(remaining?)?, valid(reset?)?);
    let reset = if reset >= EPOCH { (reset - now(headers) as f64).max(0.0) } else { reset };
    Some(Quota { remaining: remaining as u64, reset: Duration::from_secs_f64(reset) })
}

/// Returns the time by the Date header, in seconds since 1970.
pub(crate) fn service_time(headers: &HeaderMap) -> Option<i64> {
    headers.get(DATE).and_then(|value| value.to_str().ok()).and_then(date)
}

/// Returns the time by the service's clock, or by ours if the response has no Date, in seconds since 1970.
fn now(headers: &HeaderMap) -> i64 {
    service_time(headers).unwrap_or_else(|| Timestamp::now().as_second())
}

/// Parses a date of HTTP in any of its three formats, and the other dates of RFC 2822. Returns seconds since 1970.
fn date(text: &str) -> Option<i64> {
    match httpdate::parse_http_date(text.trim()) {
        // HTTP has no earlier dates.
        Ok(date) => i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok(),
        Err(_) => jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp().as_second()),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn retry_after_may_be_a_date_in_any_format_of_http() {
        let read = |value: &'static str| {
            let date = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:00 GMT");
            let headers = [(RETRY_AFTER, HeaderValue::from_static(value)), (DATE, date)];
            retry_after(StatusCode::SERVICE_UNAVAILABLE, &headers.into_iter().collect())
        };
        for (value, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "37"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "37"),
            ("Sun Nov  6 08:49:37 1994", "37"),
            (" Sun Nov  6 08:50:00 1994 ", "60"),
            ("Sun, 06 Nov 1994 09:49:00 +0100", "0"),
            ("Sat, 05 Nov 1994 08:49:37 GMT", "0"),
            ("Fri, 31 Dec 9999 23:59:59 GMT", "252618189059"),
            ("37", "37"),
            ("-1", "-1"),
            ("Sunday", "Sunday"),
        ] {
            assert_eq!(read(value).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn quota_is_read_from_all_common_headers() {
        let read = |headers: &[(&'static str, &'static str)]| {
            let headers =
                headers.iter().map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)));
            quota(&headers.collect::<HeaderMap>()).map(|quota| (quota.remaining, quota.reset.as_secs()))
        };
        assert_eq!(read(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "7")]), Some((0, 7)));
        assert_eq!(read(&[("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "60")]), Some((3, 60)));
        assert_eq!(read(&[("ratelimit", "limit=10, remaining=0, reset=7")]), Some((0, 7)));
        assert_eq!(read(&[("ratelimit", r#""default";r=2;t=30"#)]), Some((2, 30)));
        let epoch = [
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1700000009"),
            ("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ];
        assert_eq!(read(&epoch), Some((0, 9)));
        for bad in [
            &[("ratelimit-remaining", "0")][..],
            &[("ratelimit", "x")],
            &[("ratelimit-remaining", "-1"), ("ratelimit-reset", "NaN")],
        ] {
            assert_eq!(read(bad), None);
        }
    }
}
