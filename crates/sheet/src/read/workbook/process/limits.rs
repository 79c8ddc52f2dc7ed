//! Limits of the reading process: memory, and time without progress.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::read::workbook::activity::Activity;

/// Exit code of a process without progress.
pub(super) const STALLED: u8 = 3;
/// Exit code of a process above the memory limit.
pub(super) const TOO_LARGE: u8 = 4;
/// Maximum processor time without output.
const MAX_SILENCE: Duration = Duration::from_secs(5);
/// Maximum processor time without input.
const MAX_WITHOUT_INPUT: Duration = Duration::from_secs(3);
/// Maximum resident memory. Even with allocations between two checks, usage stays well below 512 MiB. An XLS sheet with cells in
/// opposite corners takes 384 MiB, because calamine stores all cells in between.
pub(super) const MEMORY: u64 = 400 << 20;
/// Allocations allowed beyond [`MEMORY`] where resident memory is measured: parsers reserve the sizes claimed by a workbook
/// without using them.
const RESERVED: u64 = 1536 << 20;
/// Additional address space for the program and its threads.
const ADDRESSES: u64 = 512 << 20;
/// Maximum number of open descriptors: the standard streams, the file, the size of the process, and descriptors inherited from
/// the caller.
#[cfg(unix)]
const DESCRIPTORS: u64 = 16;
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Applies the limits of the operating system to this process. Returns the memory meter for [`watch`].
pub(super) fn enforce() -> Meter {
    // Opened now: a contained process can open no files.
    let meter = Meter::open();
    limit(&meter);
    meter
}

/// Limits the number of open descriptors. Open descriptors stay open.
pub(super) fn limit_descriptors() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) };
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Ends this process if it uses too much memory or makes no progress.
pub(super) fn watch(meter: Meter, activity: Arc<Activity>) {
    let watch = move || {
        let (mut last_output, mut last_input) = (processor_time(), processor_time());
        loop {
            thread::sleep(CHECK_INTERVAL);
            if meter.resident_memory().is_some_and(|bytes| bytes > MEMORY) {
                std::process::exit(i32::from(TOO_LARGE));
            }
            let now = processor_time();
            if activity.take_input() {
                last_input = now;
            }
            if activity.take_output() {
                (last_output, last_input) = (now, now);
            }
            if now.saturating_sub(last_output) > MAX_SILENCE || now.saturating_sub(last_input) > MAX_WITHOUT_INPUT {
                std::process::exit(i32::from(STALLED));
            }
        }
    };
    // Without the watchdog, the user can still end the process.
    drop(thread::Builder::new().name("watchdog".to_owned()).spawn(watch));
}

/// Sets the limits of the operating system.
#[cfg(unix)]
fn limit(meter: &Meter) {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let memory = if meter.resident_memory().is_some() { MEMORY + RESERVED } else { MEMORY };
    let limits = [
        (Resource::Data, memory),
        (Resource::As, memory + ADDRESSES),
        // No files, no core dumps.
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ];
    for (resource, limit) in limits {
        let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    }
}

/// Other systems enforce no limits; memory is limited only by checks while reading.
#[cfg(not(unix))]
fn limit(_: &Meter) {
    let _ = (RESERVED, ADDRESSES);
}

/// Measures the memory of this process.
pub(super) struct Meter {
    /// Sizes in pages. The system updates them at each reading.
    #[cfg(target_os = "linux")]
    statm: Option<std::fs::File>,
}

impl Meter {
    fn open() -> Meter {
        Meter {
            #[cfg(target_os = "linux")]
            statm: std::fs::File::open("/proc/self/statm").ok(),
        }
    }

    /// Returns the resident memory, not counting files such as the program itself, or `None` if it cannot be measured.
    #[cfg(target_os = "linux")]
    fn resident_memory(&self) -> Option<u64> {
        use std::os::unix::fs::FileExt as _;

        let mut text = [0; 128];
        let len = self.statm.as_ref()?.read_at(&mut text, 0).ok()?;
        let mut sizes = std::str::from_utf8(&text[..len]).ok()?.split(' ').skip(1);
        let mut size = || sizes.next()?.parse::<u64>().ok();
        let (resident, of_files) = (size()?, size()?);
        Some(resident.saturating_sub(of_files) * rustix::param::page_size() as u64)
    }

    #[cfg(not(target_os = "linux"))]
    fn resident_memory(&self) -> Option<u64> {
        None
    }
}

/// Returns the processor time of this process, independent of other processes.
#[cfg(unix)]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("processor time is not negative")
}

/// Returns the elapsed time where processor time is not available.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
