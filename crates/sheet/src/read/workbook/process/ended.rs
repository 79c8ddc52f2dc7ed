//! Why a reading process ended.

use std::io::Read;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

use super::limits;
use crate::read::workbook::fault::{Fault, FaultKind};

/// Maximum time for a process to end after closing its output, and the polling interval.
const END: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_millis(2);

/// Ends a process whose output has ended or is invalid. Returns the cause.
pub(super) fn cause(process: &mut Child, has_output: bool) -> Fault {
    // The end of a process killed here has no other cause.
    let status = if has_output { None } else { own_end(process) };
    let _ = process.kill();
    let _ = process.wait();
    let mut words = Vec::new();
    if let Some(stderr) = process.stderr.take() {
        let _ = stderr.take(4096).read_to_end(&mut words);
    }
    let words = String::from_utf8_lossy(&words);
    let code = status.and_then(|status| status.code());
    if code == Some(i32::from(limits::STALLED)) {
        Fault::new("reading it made no progress for several seconds")
    } else if code == Some(i32::from(limits::TOO_LARGE))
        || words.contains("memory allocation of")
        || words.contains("out of memory")
    {
        Fault::new(format!("reading it takes more than the {} MiB of memory allowed", limits::MEMORY >> 20))
    } else {
        status.and_then(by_signal).unwrap_or_else(Fault::malformed)
    }
}

/// Waits briefly for the end of a process.
fn own_end(process: &mut Child) -> Option<ExitStatus> {
    let mut left = END;
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if !left.is_zero() => thread::sleep(INTERVAL),
            _ => return None,
        }
        left = left.saturating_sub(INTERVAL);
    }
}

/// Returns the fault for a process ended by a signal.
#[cfg(unix)]
fn by_signal(status: ExitStatus) -> Option<Fault> {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal;

    let number = status.signal()?;
    let signal = Signal::from_named_raw(number);
    let name = match signal {
        Some(Signal::KILL) => "SIGKILL".to_owned(),
        Some(Signal::TERM) => "SIGTERM".to_owned(),
        Some(Signal::SEGV) => "SIGSEGV".to_owned(),
        Some(Signal::BUS) => "SIGBUS".to_owned(),
        Some(Signal::ABORT) => "SIGABRT".to_owned(),
        _ => format!("signal {number}"),
    };
    Some(match signal {
        Some(Signal::KILL | Signal::TERM | Signal::INT | Signal::HUP) => {
            Fault { kind: FaultKind::Killed, reason: name }
        }
        _ => Fault::new(format!("the process that reads it crashed ({name})")),
    })
}

#[cfg(not(unix))]
fn by_signal(_: ExitStatus) -> Option<Fault> {
    None
}
