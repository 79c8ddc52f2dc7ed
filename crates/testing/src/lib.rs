//! How much the tests try. Only dev-dependencies name this crate, so that no executable contains it.

use std::env;

/// Lets tests of random schedules run in full.
const LONG: &str = "SHEETPORT_LONG";

/// Returns how many random schedules, faults or seeds a test tries: `usual`, or `long` with `SHEETPORT_LONG=1`, as before a release.
///
/// # Panics
///
/// Panics if `SHEETPORT_LONG` is neither `0` nor `1`.
pub fn tries<T>(usual: T, long: T) -> T {
    match env::var_os(LONG) {
        None => usual,
        Some(chosen) if chosen == "0" => usual,
        Some(chosen) if chosen == "1" => long,
        Some(chosen) => panic!("{LONG}={}: it is 1 for tests in full, or 0", chosen.display()),
    }
}
