//! Rates, as in `10/s`.

use std::num::NonZeroU32;
use std::time::Duration;

/// A number of requests per unit of time, such as `10/s` or `600/min`.
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

    /// Returns the time between two requests.
    pub(super) fn interval(&self) -> Duration {
        self.per / self.count.get()
    }
}

impl std::str::FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let invalid = || format!("'{text}' is not a rate; write it as 10/s or 600/min");
        let (count, unit) = text.trim().split_once('/').ok_or_else(invalid)?;
        let per = match unit.trim() {
            "s" | "sec" | "second" => Duration::from_secs(1),
            "m" | "min" | "minute" => Duration::from_secs(60),
            "h" | "hour" => Duration::from_secs(3600),
            _ => return Err(invalid()),
        };
        let count = count.trim().parse().map_err(|_| invalid())?;
        let rate = Rate { count, per };
        if rate.interval().is_zero() { Err(invalid()) } else { Ok(rate) }
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
        for (text, per_second) in [("10/s", 10.0), ("600/min", 10.0), (" 36000 / hour ", 10.0), ("1/min", 1.0 / 60.0)] {
            assert_eq!(text.parse::<Rate>().map(|rate| rate.per_second()), Ok(per_second), "{text}");
        }
        for text in ["", "10", "0/s", "-1/s", "10/day", "1.5/s", "x/s", "9999999999/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
