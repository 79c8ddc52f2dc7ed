//! The rate limit per workspace: a token bucket. Pure: the time is a parameter.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Requests per time unit, written as `10/s` or `600/min`; a number alone is per second. After an idle time unit, a workspace may send this number of requests
/// at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    count: NonZeroU32,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
}

impl Limit {
    /// Returns the time per request. Not zero.
    fn interval(&self) -> Duration {
        let seconds = match self.unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
        };
        Duration::from_secs(seconds) / self.count.get()
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let wrong = || format!("'{text}' is not a limit; write 10/s, 600/min or 5000/h");
        let (count, unit) = text.split_once('/').unwrap_or((text, "s"));
        let unit = match unit.trim() {
            "s" => Unit::Second,
            "min" => Unit::Minute,
            "h" => Unit::Hour,
            _ => return Err(wrong()),
        };
        let limit = Limit { count: count.trim().parse().map_err(|_| wrong())?, unit };
        if limit.interval().is_zero() { Err(wrong()) } else { Ok(limit) }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Second => "s",
            Unit::Minute => "min",
            Unit::Hour => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

/// The state of a bucket after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketState {
    pub(super) limit: u32,
    pub(super) remaining: u32,
    /// Time until the bucket is full.
    pub(super) reset: Duration,
    /// Set if the request is rejected: the time until the next request may be accepted.
    pub(super) retry_after: Option<Duration>,
}

/// The buckets of all workspaces. The number of workspaces is limited, because their names come from signed tokens.
pub(super) struct Buckets {
    limit: Limit,
    /// The time when each bucket will be full.
    full_at: HashMap<Arc<str>, Duration>,
}

impl Buckets {
    pub(super) fn new(limit: Limit) -> Buckets {
        Buckets { limit, full_at: HashMap::new() }
    }

    /// Takes a request from the bucket of a workspace, unless the bucket is empty. Times are relative to a fixed moment.
    pub(super) fn take(&mut self, workspace: &Arc<str>, now: Duration) -> BucketState {
        let count = self.limit.count.get();
        let interval = self.limit.interval();
        let span = interval * count;
        let full_at = self.full_at.entry(workspace.clone()).or_insert(now);
        let taken = (*full_at).max(now) + interval;
        let retry_after = (taken - now).checked_sub(span).filter(|wait| !wait.is_zero());
        if retry_after.is_none() {
            *full_at = taken;
        }
        let reset = full_at.saturating_sub(now);
        let remaining = span.saturating_sub(reset).as_nanos() / interval.as_nanos();
        BucketState { limit: count, remaining: remaining as u32, reset, retry_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().expect("a limit")
    }

    #[test]
    fn limits_are_parsed() {
        for text in ["10/s", "600/min", "5000/h", "1/h", "1000000000/s"] {
            assert_eq!(limit(text).to_string(), text);
        }
        assert_eq!(limit("600/min").interval(), limit("10/s").interval());
        assert_eq!(limit("10"), limit("10/s"));
        for bad in ["", "0", "0/s", "-1/s", "10/day", "1.5/s", "/s", "10/", "2000000000/s", "99999999999/s"] {
            assert!(bad.parse::<Limit>().expect_err(bad).contains("600/min"), "{bad}");
        }
    }

    #[test]
    fn a_bucket_empties_and_refills() {
        let mut buckets = Buckets::new(limit("4/s"));
        let acme = Arc::from("acme");
        let at = Duration::from_millis;
        for remaining in [3, 2, 1, 0] {
            let state = buckets.take(&acme, at(1000));
            assert_eq!((state.limit, state.remaining, state.retry_after), (4, remaining, None));
            assert_eq!(state.reset, at(250) * (4 - remaining));
        }
        let rejected = buckets.take(&acme, at(1000));
        assert_eq!((rejected.remaining, rejected.reset, rejected.retry_after), (0, at(1000), Some(at(250))));
        assert_eq!(buckets.take(&acme, at(1249)).retry_after, Some(at(1)), "a rejected request costs nothing");
        let state = buckets.take(&acme, at(1250));
        assert_eq!((state.remaining, state.retry_after), (0, None));
        assert_eq!(buckets.take(&acme, at(60_000)).remaining, 3, "a bucket never holds more than the limit");
    }

    #[test]
    fn each_workspace_has_its_own_bucket() {
        let mut buckets = Buckets::new(limit("1/min"));
        let (acme, other) = (Arc::from("acme"), Arc::from("other"));
        assert_eq!(buckets.take(&acme, Duration::ZERO).retry_after, None);
        assert_eq!(buckets.take(&acme, Duration::ZERO).retry_after, Some(Duration::from_secs(60)));
        assert_eq!(buckets.take(&other, Duration::ZERO).retry_after, None);
    }

    #[test]
    fn the_rate_holds_over_a_long_time() {
        let mut buckets = Buckets::new(limit("7/s"));
        let acme = Arc::from("acme");
        let accepted =
            (0..10_000).filter(|tick| buckets.take(&acme, Duration::from_millis(*tick)).retry_after.is_none()).count();
        assert_eq!(accepted, 7 + 69);
    }
}
