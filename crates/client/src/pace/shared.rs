//! A rate shared by the processes of a machine, through a locked file with the time of the next permit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::gate::Gate;

/// Permits further ahead are ignored: the clock was set back, or the file contains something else.
const MAX_AHEAD: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct SharedGate {
    file: File,
    /// The same moment by the monotonic clock and since 1970, because processes share only the latter.
    origin: (Instant, Duration),
}

impl SharedGate {
    pub(super) fn open(path: &Path, now: Instant) -> io::Result<SharedGate> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        Ok(SharedGate { file, origin: (now, wall) })
    }

    /// Takes a permit. The inner error is the time of the next permit.
    pub(super) fn pass(&mut self, interval: Duration, now: Instant) -> io::Result<Result<(), Instant>> {
        self.file.lock()?;
        let permit = self.pass_locked(interval, now);
        self.file.unlock()?;
        permit
    }

    fn pass_locked(&mut self, interval: Duration, now: Instant) -> io::Result<Result<(), Instant>> {
        let (began, wall) = self.origin;
        let now_wall = wall + now.saturating_duration_since(began);
        let mut nanos = [0; 8];
        self.file.seek(SeekFrom::Start(0))?;
        let due = match self.file.read_exact(&mut nanos) {
            Ok(()) => Duration::from_nanos(u64::from_le_bytes(nanos)),
            // A new file.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Duration::ZERO,
            Err(error) => return Err(error),
        };
        let due = if due > now_wall + MAX_AHEAD.max(interval * 2) { now_wall } else { due };
        let mut gate = Gate { due };
        let permit = gate.pass(interval, now_wall);
        if permit.is_ok() {
            let nanos = u64::try_from(gate.due.as_nanos()).map_err(io::Error::other)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&nanos.to_le_bytes())?;
        }
        Ok(permit.map_err(|until| now + until.saturating_sub(now_wall)))
    }
}
