//! How many requests a workspace may make in a span of time: a token bucket, told the time, and what a client is told
//! about it. Nothing here waits, reads a clock or knows HTTP.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Requests in a span of time, as a person writes it: `10/s` or `600/min`. A workspace that was quiet for the whole
/// span may make all of them at once.
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
    /// In this time one request more is allowed. It is a whole number of nanoseconds, and not 0.
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
        let wrong = || format!("'{text}' is no limit; write it as 10/s, 600/min or 5000/h");
        let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
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

/// What a request finds when it asks to be let through, and how matters stand after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub limit: u32,
    pub remaining: u32,
    /// Until all of `limit` are there again.
    pub reset: Duration,
    /// The request is refused; one made after this time may be let through.
    pub retry_after: Option<Duration>,
}

/// A bucket for each workspace. Workspaces come from tokens that the service signed, so there are no more of them than
/// the person who issues tokens has named.
pub struct Buckets {
    limit: Limit,
    /// When the workspace's bucket is full again.
    full_at: HashMap<Arc<str>, Duration>,
}

impl Buckets {
    pub fn new(limit: Limit) -> Buckets {
        Buckets { limit, full_at: HashMap::new() }
    }

    /// Takes a request out of the workspace's bucket, if one is left. Times are counted from any moment, the same in
    /// every call.
    pub fn take(&mut self, workspace: &Arc<str>, now: Duration) -> Standing {
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
        Standing { limit: count, remaining: u32::try_from(remaining).unwrap_or(count), reset, retry_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().expect("a limit")
    }

    #[test]
    fn limits_are_written_as_people_write_them() {
        for text in ["10/s", "600/min", "5000/h", "1/h", "1000000000/s"] {
            assert_eq!(limit(text).to_string(), text);
        }
        assert_eq!(limit("600/min").interval(), limit("10/s").interval());
        for bad in ["", "10", "0/s", "-1/s", "10/day", "1.5/s", "/s", "10/", "2000000000/s", "99999999999/s"] {
            assert!(bad.parse::<Limit>().expect_err(bad).contains("600/min"), "{bad}");
        }
    }

    #[test]
    fn a_full_bucket_is_spent_and_fills_again() {
        let mut buckets = Buckets::new(limit("4/s"));
        let acme = Arc::from("acme");
        let at = Duration::from_millis;
        for remaining in [3, 2, 1, 0] {
            let standing = buckets.take(&acme, at(1000));
            assert_eq!((standing.limit, standing.remaining, standing.retry_after), (4, remaining, None));
            assert_eq!(standing.reset, at(250) * (4 - remaining));
        }
        let refused = buckets.take(&acme, at(1000));
        assert_eq!((refused.remaining, refused.reset, refused.retry_after), (0, at(1000), Some(at(250))));
        assert_eq!(buckets.take(&acme, at(1249)).retry_after, Some(at(1)), "a refused request costs nothing");
        let standing = buckets.take(&acme, at(1250));
        assert_eq!((standing.remaining, standing.retry_after), (0, None));
        assert_eq!(buckets.take(&acme, at(60_000)).remaining, 3, "it never holds more than the limit");
    }

    #[test]
    fn workspaces_have_buckets_of_their_own() {
        let mut buckets = Buckets::new(limit("1/min"));
        let (acme, other) = (Arc::from("acme"), Arc::from("other"));
        assert_eq!(buckets.take(&acme, Duration::ZERO).retry_after, None);
        assert_eq!(buckets.take(&acme, Duration::ZERO).retry_after, Some(Duration::from_secs(60)));
        assert_eq!(buckets.take(&other, Duration::ZERO).retry_after, None);
    }

    #[test]
    fn over_a_long_time_the_rate_is_kept() {
        let mut buckets = Buckets::new(limit("7/s"));
        let acme = Arc::from("acme");
        let let_through =
            (0..10_000).filter(|tick| buckets.take(&acme, Duration::from_millis(*tick)).retry_after.is_none()).count();
        assert_eq!(let_through, 7 + 69);
    }
}
