//! The time zone in which people read times: in messages, in reports and in the names of files.

use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The zone of the process, if not that of the system.
static CHOSEN: OnceLock<TimeZone> = OnceLock::new();

/// Chooses the zone for the rest of the process. The first choice stays.
pub fn choose_local_zone(zone: TimeZone) {
    // Two zones in one output would be worse than the wrong one.
    drop(CHOSEN.set(zone));
}

/// Returns the chosen zone, or else that of the system.
pub fn local_zone() -> TimeZone {
    CHOSEN.get().cloned().unwrap_or_else(TimeZone::system)
}

/// Returns a time of the ledger, in milliseconds since 1970, in the local zone. Impossible times become 1970.
pub fn local_time(millis: i64) -> Zoned {
    Timestamp::from_millisecond(millis).unwrap_or_default().to_zoned(local_zone())
}

/// Formats a time of the ledger, in milliseconds since 1970, for people: in the local zone, to the minute.
pub fn local_minute(millis: i64) -> String {
    local_time(millis).strftime("%Y-%m-%d %H:%M").to_string()
}
