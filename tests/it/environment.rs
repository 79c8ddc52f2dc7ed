//! The environment of the tests: optional programs, the memory of child processes, and the context of operations.

use std::env;
use std::path::Path;
use std::process::Command;
#[cfg(unix)]
use std::time::Duration;

use sheetport_operations::Context;
pub use sheetport_testing::{report_missing, report_untested};

/// Returns whether a program can be started; otherwise reports that the test cannot run.
pub fn has_program(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        report_missing(program);
    }
    is_there
}

/// Returns the processor time of all child processes so far, or `None` if other tests run in this process.
#[cfg(unix)]
pub fn processor_time_of_children() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike as _};
    env::var_os("NEXTEST")?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let time = |time: TimeVal| Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap());
    Some(time(usage.user_time()) + time(usage.system_time()))
}

/// Returns the peak memory in bytes of the largest child process so far, or `None` if other tests run in this process:
/// their children would count as well. nextest runs each test in a process of its own.
#[cfg(unix)]
pub fn peak_memory_of_children() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    env::var_os("NEXTEST")?;
    let peak = u64::try_from(getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss()).unwrap();
    Some(peak * if cfg!(target_vendor = "apple") { 1 } else { 1024 })
}

/// Returns the context of a command with this home folder, without a service, settings or tokens.
pub fn context(home: &Path) -> Context {
    Context {
        home: home.to_owned(),
        state: None,
        accepts_older_ledger: false,
        server: None,
        kept: None,
        profile: "default".to_owned(),
        base_url: None,
        address_from: None,
        credentials: Default::default(),
        tokens_from: None,
        withheld: None,
        environment: Default::default(),
        connection: Default::default(),
        chosen_connection: Default::default(),
        profiles: Default::default(),
        rate: None,
        given: Default::default(),
        is_address_chosen: false,
        is_profile_chosen: false,
        locale: None,
        report_words: None,
    }
}
