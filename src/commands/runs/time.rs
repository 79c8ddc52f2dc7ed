//! Times as people and programs read them.

use sheetport_values::date::local_time;

/// Returns a time of the ledger in RFC 3339, in UTC, to the second.
pub(super) fn time(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis / 1000 * 1000);
    time.map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}

/// Returns a time of the ledger for people, in the local zone.
pub(super) fn shown(millis: i64) -> String {
    local_time(millis).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
