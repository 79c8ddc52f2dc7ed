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
    /// It waits for the other side.
    pub waiting: AtomicBool,
}

/// The exit code of a reader that gave up on itself.
pub const STALLED: u8 = 3;
/// Time that a reader may spend between two things that it gives.
pub const PATIENCE: Duration = Duration::from_secs(6);
/// With the program itself and the asking process, this stays below 512 MiB.
pub const MEMORY: u64 = 440 << 20;
/// Address space beyond the memory: the program, and what the C library sets aside for threads and never touches.
const ADDRESSES: u64 = 512 << 20;

/// Limits this process, whose only work is to read a workbook.
pub fn keep(activity: Arc<Activity>) {
    limit_memory();
    let watch = move || {
        let mut since = busy();
        loop {
            thread::sleep(Duration::from_millis(100));
            let now = busy();
            if activity.moved.swap(false, Ordering::Relaxed) || activity.waiting.load(Ordering::Relaxed) {
                since = now;
            } else if now.saturating_sub(since) > PATIENCE {
                std::process::exit(i32::from(STALLED));
            }
        }
    };
    // Without the watch, the reader can still be ended by its user.
    drop(thread::Builder::new().name("watch".to_owned()).spawn(watch));
}

/// Where the system can't limit it, only what is checked while reading does.
#[cfg(unix)]
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let limits = [
        (Resource::Data, MEMORY),
        (Resource::As, MEMORY + ADDRESSES),
        // It writes no file, and no image of its memory either.
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ];
    for (resource, most) in limits {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

#[cfg(not(unix))]
fn limit_memory() {
    let _ = ADDRESSES;
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
