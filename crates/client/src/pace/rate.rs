//! Rates, as in `10/s`.

use std::num::NonZeroU32;
use std::time::Duration;

const MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("not zero");
const HOUR: NonZeroU32 = NonZeroU32::new(3600).expect("not zero");

/// A number of requests per unit of time, such as `10/s` or `600/min`. A number alone is per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    count: NonZeroU32,
    per: Duration,
}

/// The `--rate` option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    Fixed(Rate),
    /// As fast as the service permits, starting with the rate of an earlier run in requests per second.
    Auto(Option<f64>),
}

impl Rate {
    pub fn per_second(&self) -> f64 {
        f64::from(self.count.get()) / self.per.as_secs_f64()
    }

    /// Creates a rate of `requests` per `seconds`. The period must be a second, a minute or an hour.
    ///
    /// # Errors
    /// If the period is invalid, or the interval between two requests is zero.
    pub fn new(requests: NonZeroU32, seconds: NonZeroU32) -> Result<Rate, String> {
        let rate = Rate { count: requests, per: Duration::from_secs(u64::from(seconds.get())) };
        let is_unit = [NonZeroU32::MIN, MINUTE, HOUR].contains(&seconds);
        if rate.interval().is_zero() || !is_unit { Err(format!("{rate} is not a rate")) } else { Ok(rate) }
    }

    /// Returns the number of requests, and the period in seconds.
    pub fn parts(&self) -> (NonZeroU32, NonZeroU32) {
        let seconds = u32::try_from(self.per.as_secs()).ok().and_then(NonZeroU32::new);
        (self.count, seconds.expect("the unit of a rate is a second, a minute or an hour"))
    }

    /// Returns the time between two requests.
    pub fn interval(&self) -> Duration {
        self.per / self.count.get()
    }
}

impl std::str::FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let invalid = || format!("'{text}' is not a rate; write it as 10/s or 600/min");
        let text = text.trim();
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, unit) = text.split_at(digits);
        let count: NonZeroU32 = count.parse().map_err(|_| invalid())?;
        let unit = unit.trim().to_ascii_lowercase();
        if unit.is_empty() {
            return Rate::new(count, NonZeroU32::MIN).map_err(|_| invalid());
        }
        let per = unit.trim_start_matches("requests").trim_start_matches("req").trim_start();
        let per = per.strip_prefix('/').or_else(|| per.strip_prefix("per ")).or_else(|| per.strip_prefix("rp"));
        let seconds = match per.map(str::trim) {
            Some("s" | "sec" | "second") => NonZeroU32::MIN,
            Some("m" | "min" | "minute") => MINUTE,
            Some("h" | "hour") => HOUR,
            _ => return Err(invalid()),
        };
        Rate::new(count, seconds).map_err(|_| invalid())
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = match self.per.as_secs() {
            1 => "s",
            60 => "min",
            _ => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

impl Speed {
    /// Text of the automatic rate.
    pub const AUTO: &'static str = "auto";
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Speed::Fixed(rate) => rate.fmt(f),
            Speed::Auto(_) => f.write_str(Speed::AUTO),
        }
    }
}

impl std::str::FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        match text.trim() {
            Speed::AUTO => Ok(Speed::Auto(None)),
            text => text.parse().map(Speed::Fixed).map_err(|error: String| format!("{error}, or auto")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_parsed_per_second_minute_and_hour() {
        for (text, per_second) in [
            ("10/s", 10.0),
            ("600/min", 10.0),
            (" 36000 / hour ", 10.0),
            ("1/min", 1.0 / 60.0),
            ("10 per second", 10.0),
            ("10rps", 10.0),
            ("600 rpm", 10.0),
            ("10 req/s", 10.0),
            ("10/S", 10.0),
            ("300", 300.0),
            (" 10 ", 10.0),
        ] {
            assert_eq!(text.parse::<Rate>().map(|rate| rate.per_second()), Ok(per_second), "{text}");
        }
        for text in [
            "",
            "0",
            "-5",
            "1.5",
            "9999999999",
            "0/s",
            "-1/s",
            "10/day",
            "1.5/s",
            "x/s",
            "9999999999/s",
            "/s",
            "10s",
            "10 per",
            "10//s",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
