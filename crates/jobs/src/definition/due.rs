//! When a schedule starts its job.

use jiff::{ToSpan as _, Zoned};

use super::model::Schedule;

impl Schedule {
    /// Returns the first start after a time, in the time zone of this time.
    pub(crate) fn next(&self, after: &Zoned) -> Option<Zoned> {
        let zone = after.time_zone();
        match self {
            Schedule::At { hour, minute, days } => {
                let (hour, minute) = (i8::try_from(*hour).ok()?, i8::try_from(*minute).ok()?);
                let starts = (0..=8_i32).filter_map(|ahead| {
                    let date = after.date().checked_add(ahead.days()).ok()?;
                    let day = u8::try_from(date.weekday().to_monday_zero_offset()).ok()?;
                    // A time that the clock skips is moved on, as schedulers do.
                    let start = date.at(hour, minute, 0, 0).to_zoned(zone.clone()).ok()?;
                    days.contains(&day).then_some(start)
                });
                starts.into_iter().find(|start| start > after)
            }
            Schedule::Every { minutes } => {
                let passed = i64::from(after.hour()) * 60 + i64::from(after.minute());
                let every = i64::from(*minutes);
                let midnight = after.date().at(0, 0, 0, 0);
                // In the hour that the clock repeats, the next start by the clock may be over.
                let starts = (1..=3).filter_map(|ahead| {
                    let start = midnight.checked_add(((passed / every + ahead) * every).minutes()).ok()?;
                    start.to_zoned(zone.clone()).ok()
                });
                starts.into_iter().find(|start| start > after)
            }
        }
    }

    /// Returns the first day within a year on which the clock skips or repeats the time of the schedule.
    pub(crate) fn odd_day(&self, from: &Zoned) -> Option<jiff::civil::Date> {
        let Schedule::At { hour, minute, .. } = self else { return None };
        let (hour, minute) = (i8::try_from(*hour).ok()?, i8::try_from(*minute).ok()?);
        (0..366_i32).find_map(|ahead| {
            let date = from.date().checked_add(ahead.days()).ok()?;
            from.time_zone().to_ambiguous_zoned(date.at(hour, minute, 0, 0)).is_ambiguous().then_some(date)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse().expect("a time with its zone")
    }

    fn at_time(hour: u8, minute: u8, days: &[u8]) -> Schedule {
        Schedule::At { hour, minute, days: days.to_vec() }
    }

    #[test]
    fn the_next_start_follows_days_and_the_clock() {
        let all = at_time(4, 30, &[0, 1, 2, 3, 4, 5, 6]);
        for (schedule, after, next) in [
            (&all, "2026-11-28T04:29[Europe/Berlin]", "2026-11-28T04:30[Europe/Berlin]"),
            (&all, "2026-11-28T04:30[Europe/Berlin]", "2026-11-29T04:30[Europe/Berlin]"),
            // Saturday to Monday.
            (&at_time(4, 30, &[0, 1, 2, 3, 4]), "2026-11-28T05:00[Europe/Berlin]", "2026-11-30T04:30[Europe/Berlin]"),
            (&at_time(4, 30, &[5]), "2026-11-28T05:00[Europe/Berlin]", "2026-12-05T04:30[Europe/Berlin]"),
            (
                &at_time(2, 30, &[0, 1, 2, 3, 4, 5, 6]),
                "2026-03-28T12:00[Europe/Berlin]",
                "2026-03-29T03:30[Europe/Berlin]",
            ),
            (&Schedule::Every { minutes: 15 }, "2026-11-28T04:29[Europe/Berlin]", "2026-11-28T04:30[Europe/Berlin]"),
            (&Schedule::Every { minutes: 240 }, "2026-11-28T21:00[Europe/Berlin]", "2026-11-29T00:00[Europe/Berlin]"),
        ] {
            assert_eq!(schedule.next(&at(after)), Some(at(next)), "{schedule:?} after {after}");
        }
    }

    #[test]
    fn times_that_the_clock_skips_are_found() {
        let from = at("2026-11-28T12:00[Europe/Berlin]");
        let days = [0, 1, 2, 3, 4, 5, 6];
        assert_eq!(at_time(2, 30, &days).odd_day(&from), Some(jiff::civil::date(2027, 3, 28)));
        assert_eq!(at_time(4, 30, &days).odd_day(&from), None);
        assert_eq!(Schedule::Every { minutes: 15 }.odd_day(&from), None);
    }
}
