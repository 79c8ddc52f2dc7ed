//! Dates as ISO 8601 writes them, which nobody can read in two ways.

use jiff::{Timestamp, civil};

use super::{Fault, Read};

/// Reads a date, a time of a day, or a moment. A name in the fault says what was expected.
pub fn read(text: &str) -> Result<Read, Fault> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(Read::Instant(moment));
    }
    // A date-time's parser takes a date alone for midnight, which is not what it says.
    if text.len() <= "2026-01-31".len()
        && let Ok(date) = text.parse::<civil::Date>()
    {
        return Ok(Read::Date(date));
    }
    match text.parse::<civil::DateTime>() {
        Ok(local) => Ok(Read::Local(local)),
        Err(_) => Err(Fault::NotLike { pattern: "YYYY-MM-DD".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_moments_are_told_apart() {
        assert_eq!(read("2026-01-31"), Ok(Read::Date(civil::date(2026, 1, 31))));
        assert_eq!(read(" 2026-01-31 08:30 "), Ok(Read::Local(civil::date(2026, 1, 31).at(8, 30, 0, 0))));
        assert!(matches!(read("2026-01-31T08:30:00+02:00"), Ok(Read::Instant(_))));
        for text in ["", "31.01.2026", "2026-02-30", "today", "2026-01-31T25:00"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
