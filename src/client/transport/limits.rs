//! What an answer's headers say of the service's limit: when to come again, and how much of it is left.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// How many requests the service takes before so much time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub remaining: u64,
    pub reset: Duration,
}

/// The header Retry-After in seconds. A date in it is counted from the service's own clock, where it shows that.
pub fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    if !matches!(status.as_u16(), 408 | 429 | 503) {
        return None;
    }
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    Some(match date(value) {
        Some(until) => until.duration_since(now(headers)).as_secs().max(0).to_string(),
        None => value.to_owned(),
    })
}

/// What the RateLimit headers say, in the forms that are in use: one field for each number, with or without `X-` before
/// it, or all in one, as `limit=10, remaining=0, reset=7` or `"default";r=0;t=7`.
pub fn quota(headers: &HeaderMap) -> Option<Quota> {
    // A moment since 1970 is no number of seconds that anybody is asked to wait.
    const EPOCH: u64 = 1_000_000_000;
    // Nearly no answer has one, and to look each up takes longer.
    if !headers.keys().any(|name| name.as_str().contains("ratelimit")) {
        return None;
    }
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
    let whole = |number: f64| (0.0..1e15).contains(&number).then_some(number);
    let (remaining, reset) = (whole(remaining?)?, whole(reset?)?);
    let reset = if reset >= EPOCH as f64 { (reset - now(headers).as_second() as f64).max(0.0) } else { reset };
    Some(Quota { remaining: remaining as u64, reset: Duration::from_secs_f64(reset) })
}

/// By the service's own clock, where it shows that.
fn now(headers: &HeaderMap) -> Timestamp {
    let shown = headers.get(DATE).and_then(|value| value.to_str().ok()).and_then(date);
    shown.unwrap_or_else(Timestamp::now)
}

fn date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_quota_is_read_in_the_forms_that_are_in_use() {
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
