//! What a reader's process may use: memory, and time without getting anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What a reader shows of itself to the watch over it.
#[derive(Debug, Default)]
pub struct Activity {
    /// It gave something since the watch last looked.
    pub moved: AtomicBool,
    /// It took something from the file since the watch last looked.
    pub fed: AtomicBool,
    /// It waits for the other side.
    pub waiting: AtomicBool,
}

/// The exit codes of a reader that gave up on itself.
pub const STALLED: u8 = 3;
pub const TOO_LARGE: u8 = 4;
/// Time that a reader may spend between two things that it gives, and between two that it takes.
const PATIENCE: Duration = Duration::from_secs(5);
const FED_PATIENCE: Duration = Duration::from_secs(3);
/// Memory in use. With what is used before the watch looks again, this stays well below 512 MiB.
pub const MEMORY: u64 = 400 << 20;
/// Parsers set memory aside on a workbook's word and never use it. This much more than [`MEMORY`] may be set aside,
/// where the watch can see what is used.
const SET_ASIDE: u64 = 1536 << 20;
/// Addresses beyond that: the program, and what the C library sets aside for threads.
const ADDRESSES: u64 = 512 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Limits this process, whose only work is to read a workbook.
pub fn keep(activity: Arc<Activity>) {
    limit_memory();
    let watch = move || {
        let (mut since, mut fed) = (busy(), busy());
        loop {
            thread::sleep(LOOK_EVERY);
            if memory_in_use().is_some_and(|bytes| bytes > MEMORY) {
                std::process::exit(i32::from(TOO_LARGE));
            }
            let now = busy();
            if activity.fed.swap(false, Ordering::Relaxed) {
                fed = now;
            }
            if activity.moved.swap(false, Ordering::Relaxed) || activity.waiting.load(Ordering::Relaxed) {
                (since, fed) = (now, now);
            }
            if now.saturating_sub(since) > PATIENCE || now.saturating_sub(fed) > FED_PATIENCE {
                std::process::exit(i32::from(STALLED));
            }
        }
    };
    // Without the watch, the reader can still be ended by its user.
    drop(thread::Builder::new().name("watch".to_owned()).spawn(watch));
}

/// What the system enforces by itself.
#[cfg(unix)]
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let most = if memory_in_use().is_some() { MEMORY + SET_ASIDE } else { MEMORY };
    let limits = [
        (Resource::Data, most),
        (Resource::As, most + ADDRESSES),
        // It writes no file, and no image of its memory either.
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ];
    for (resource, most) in limits {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// Here only what is checked while reading limits the memory.
#[cfg(not(unix))]
fn limit_memory() {
    let _ = (SET_ASIDE, ADDRESSES);
}

/// Nothing where the system does not tell.
#[cfg(target_os = "linux")]
fn memory_in_use() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(resident * rustix::param::page_size() as u64)
}

#[cfg(not(target_os = "linux"))]
fn memory_in_use() -> Option<u64> {
    None
}

/// The time that this process has worked. A busy machine does not make it pass faster.
#[cfg(unix)]
fn busy() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// Where the system is not asked for processor time: the clock's.
#[cfg(not(unix))]
fn busy() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
