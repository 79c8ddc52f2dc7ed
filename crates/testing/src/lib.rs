//! What the tests of several crates need: how much they try, programs that may be missing, tables in documents, and a PostgreSQL server. Only
//! dev-dependencies name this crate, so that no executable contains it.

pub mod generated;
pub mod postgres;

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

/// Reports that a test cannot run because `program` is not installed.
///
/// # Panics
///
/// As [`report_untested`].
pub fn report_missing(program: &str) {
    report_untested(&format!("{program} is not installed; tests/run installs it"));
}

/// Reports why a test cannot run.
///
/// # Panics
///
/// Panics if `SHEETPORT_REQUIRE_TOOLS` is set, as it is by `tests/run`: no test may pass there without running.
pub fn report_untested(why: &str) {
    assert!(env::var_os("SHEETPORT_REQUIRE_TOOLS").is_none(), "not tested: {why}");
    eprintln!("not tested: {why}");
}
