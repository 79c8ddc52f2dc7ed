//! Times as people and programs read them.

/// Returns a time of the ledger in RFC 3339, to the second.
pub(super) fn time(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis / 1000 * 1000);
    time.map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}
