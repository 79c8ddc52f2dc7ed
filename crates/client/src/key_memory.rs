//! The time for which a service remembers idempotency keys, and thus the time in which a request may be repeated with its key.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use super::transport::WRITE_TIMEOUT;

/// Maximum time for which a service is expected to remember a key.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long a service remembers the keys of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyMemory(Duration);

impl KeyMemory {
    /// Returns the range of first-attempt times for which the service certainly still remembers the key, even if an attempt sent
    /// `now` arrives late. All times are in milliseconds since 1970. Times after `now` come from a clock that was set back, and
    /// are excluded.
    pub fn first_attempts(self, now: i64) -> RangeInclusive<i64> {
        let left = self.0.saturating_sub(WRITE_TIMEOUT.min(self.0 / 2));
        now - i64::try_from(left.as_millis()).expect("at most a year")..=now
    }
}

impl fmt::Display for KeyMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            seconds if seconds % 3600 == 0 => write!(f, "{}h", seconds / 3600),
            seconds => write!(f, "{seconds}s"),
        }
    }
}

impl FromStr for KeyMemory {
    type Err = String;

    /// Parses a duration such as `24h`, `7d`, `90min` or `30s`.
    fn from_str(text: &str) -> Result<KeyMemory, String> {
        let wrong = || format!("'{text}' is not a duration such as 24h, 7d, 90min or 30s, of at most 365 days");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let seconds = match unit.trim_start() {
            "s" => 1,
            "min" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let memory = number.checked_mul(seconds).map(Duration::from_secs);
        let memory = memory.filter(|memory| !memory.is_zero() && *memory <= LONGEST);
        memory.map(KeyMemory).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        let hours = |hours: u64| Ok(KeyMemory(Duration::from_secs(hours * 3600)));
        for (text, expected) in [("24h", hours(24)), ("24 h", hours(24)), ("7d", hours(168)), ("120min", hours(2))] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        assert_eq!("30s".parse(), Ok(KeyMemory(Duration::from_secs(30))));
        for wrong in ["", "24", "h", "0h", "-1h", "1.5h", "366d", "99999999999999999999d", "24 hours", "24m"] {
            let error = wrong.parse::<KeyMemory>().expect_err("not a duration");
            assert!(error.starts_with(&format!("'{wrong}' is not a duration such as 24h")), "{error}");
        }
    }

    #[test]
    fn a_key_is_used_until_shortly_before_it_is_forgotten() {
        let now = 1_000_000_000;
        let oldest = |text: &str| {
            let range = text.parse::<KeyMemory>().expect("a duration").first_attempts(now);
            assert_eq!(*range.end(), now);
            now - range.start()
        };
        // The time that an attempt may take is left.
        assert_eq!(oldest("24h"), (24 * 60 - 2) * 60 * 1000);
        assert_eq!(oldest("3min"), 90 * 1000);
    }
}
