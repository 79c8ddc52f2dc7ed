//! Reads `[schedule]`.

use jiff::tz::TimeZone;
use sheetport_documents::{Notes, Parsed};
use toml::Spanned;

use super::model::Schedule;
use super::raw::{RawSchedule, Time};

/// The days of the week in job files.
pub(super) const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Reads the time zone of a schedule. Returns `None` if there is none, and after a mistake.
pub(super) fn zone(raw: &RawSchedule, notes: &Notes<'_>) -> Option<TimeZone> {
    let name = raw.zone.as_ref()?;
    let zone = TimeZone::get(name.get_ref()).ok();
    if zone.is_none() {
        let hint = Some("write it as Europe/Berlin");
        notes.note(name.span(), format!("zone: '{}' is not a time zone", name.get_ref()), hint);
    }
    zone
}

/// Reads a schedule. Returns `None` after a mistake.
pub(super) fn read(raw: Spanned<RawSchedule>, notes: &Notes<'_>) -> Option<Schedule> {
    let span = raw.span();
    let RawSchedule { every, at, days, zone: _ } = raw.into_inner();
    let at = at.and_then(|text| {
        let time = text.get_ref().split_once(':').and_then(|(hour, minute)| {
            let is_plain = hour.len() <= 2 && minute.len() == 2;
            let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
            (is_plain && hour < 24 && minute < 60).then_some((hour, minute))
        });
        if time.is_none() {
            notes.note(text.span(), format!("at: '{}' is not a time of the day such as 04:30", text.get_ref()), None);
        }
        time
    });
    let days = days.map(|days| {
        let mut chosen: Vec<u8> = Vec::new();
        for name in &days.get_ref().0 {
            match day_range(name) {
                Ok(days) => chosen.extend(days),
                Err(wrong) => {
                    notes.unknown(days.span(), format!("'{wrong}' is no day of the week"), &wrong, &DAYS);
                }
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        (days.span(), chosen)
    });
    match (every, at) {
        (Some(_), Some(_)) => {
            notes.note(span, "a schedule has either every or at", None);
            None
        }
        (Some(Parsed(Time(every))), None) => {
            if let Some((span, _)) = days {
                notes.note(span, "days is for at", Some("leave out days, or use at"));
            }
            let minutes = u32::try_from(every.as_secs() / 60).unwrap_or(0);
            let fits = every.as_secs() % 60 == 0
                && minutes > 0
                && (60 % minutes == 0 || minutes % 60 == 0 && 1440 % minutes == 0);
            if !fits {
                notes.note(
                    span,
                    "every does not divide an hour or a day",
                    Some("use 5m, 10m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 8h or 12h"),
                );
            }
            fits.then_some(Schedule::Every { minutes })
        }
        (None, at) => {
            let Schedule::At { hour, minute, days: all } = Schedule::default() else { return None };
            let (hour, minute) = at.unwrap_or((hour, minute));
            Some(Schedule::At { hour, minute, days: days.map_or(all, |(_, days)| days) })
        }
    }
}

/// Returns the days of a name such as `mon`, or of a range such as `mon-fri`. A range may go beyond Sunday.
fn day_range(text: &str) -> Result<Vec<u8>, String> {
    let day = |name: &str| {
        let name = name.trim().to_lowercase();
        let place = DAYS.iter().position(|day| *day == name);
        place.and_then(|place| u8::try_from(place).ok()).ok_or(name)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (day(first)?, day(last)?);
    let length = (last + 7 - first) % 7;
    Ok((0..=length).map(|step| (first + step) % 7).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_days_may_go_beyond_sunday() {
        assert_eq!(day_range("mon-fri"), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(day_range("Sat"), Ok(vec![5]));
        assert_eq!(day_range("sat-mon"), Ok(vec![5, 6, 0]));
        assert_eq!(day_range("mon-fry"), Err("fry".to_owned()));
    }
}
