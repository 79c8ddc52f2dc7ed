//! One rate for several processes on one machine: a small file says when the next request is due, and a lock on it says
//! whose turn it is to read and write that.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::gate::Gate;

/// A note that is further ahead than this is of a clock that was set back, or no note at all.
const FARTHEST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Shared {
    file: File,
    /// The same moment on the process's clock and since 1970: processes share no other clock.
    origin: (Instant, Duration),
}

impl Shared {
    pub fn open(path: &Path, now: Instant) -> io::Result<Shared> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        Ok(Shared { file, origin: (now, wall) })
    }

    /// Takes a permit, or says when there is one.
    pub fn pass(&mut self, interval: Duration, now: Instant) -> io::Result<Result<(), Instant>> {
        self.file.lock()?;
        let passed = self.locked(interval, now);
        self.file.unlock()?;
        passed
    }

    fn locked(&mut self, interval: Duration, now: Instant) -> io::Result<Result<(), Instant>> {
        let (began, wall) = self.origin;
        let now_wall = wall + now.saturating_duration_since(began);
        let mut note = [0; 8];
        self.file.seek(SeekFrom::Start(0))?;
        let due = match self.file.read_exact(&mut note) {
            Ok(()) => Duration::from_nanos(u64::from_le_bytes(note)),
            // It is new.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Duration::ZERO,
            Err(error) => return Err(error),
        };
        let due = if due > now_wall + FARTHEST.max(interval * 2) { now_wall } else { due };
        let mut gate = Gate { due };
        let passed = gate.pass(interval, now_wall);
        if passed.is_ok() {
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&u64::try_from(gate.due.as_nanos()).unwrap_or(u64::MAX).to_le_bytes())?;
        }
        Ok(passed.map_err(|until| now + until.saturating_sub(now_wall)))
    }
}
