//! What this machine is short of when a connection can't be opened: it is not the service's fault, and nothing was sent.

use std::error::Error;
use std::io;

/// Why this machine can't open another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// The limit of this process is reached.
    #[error("too many open files")]
    OpenFiles,
    /// The limit of the whole system is reached.
    #[error("too many open files on this machine")]
    OpenFilesOfMachine,
    /// Every local port is in use, or was until a moment ago.
    #[error("no free port for another connection")]
    Ports,
    /// The system has no memory for another socket.
    #[error("no memory for another connection")]
    Buffers,
}

/// Returns the shortage that an error of the system tells.
#[cfg(unix)]
fn of_system(error: &io::Error) -> Option<Shortage> {
    use rustix::io::Errno;
    match Errno::from_io_error(error)? {
        Errno::MFILE => Some(Shortage::OpenFiles),
        Errno::NFILE => Some(Shortage::OpenFilesOfMachine),
        Errno::ADDRNOTAVAIL => Some(Shortage::Ports),
        Errno::NOBUFS => Some(Shortage::Buffers),
        _ => None,
    }
}

/// Returns the shortage that an error of the system tells: WSAEMFILE, WSAEADDRNOTAVAIL or WSAENOBUFS.
#[cfg(not(unix))]
fn of_system(error: &io::Error) -> Option<Shortage> {
    match error.raw_os_error()? {
        10_024 => Some(Shortage::OpenFiles),
        10_049 => Some(Shortage::Ports),
        10_055 => Some(Shortage::Buffers),
        _ => None,
    }
}

impl Shortage {
    /// Returns the shortage behind an error, if any.
    pub(crate) fn behind(error: &(dyn Error + 'static)) -> Option<Shortage> {
        let mut next = Some(error);
        while let Some(cause) = next {
            let error = cause.downcast_ref::<io::Error>();
            if let Some(error) = error.filter(|error| error.raw_os_error().is_some()) {
                return of_system(error);
            }
            // The source of an I/O error skips the inner error.
            next = match error.and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => cause.source(),
            };
        }
        None
    }

    /// Returns how to get more, without a full stop.
    pub fn hint(self) -> &'static str {
        match self {
            Shortage::OpenFiles if cfg!(unix) => {
                "raise the limit with `ulimit -n 4096` before the command, or give a lower --concurrency"
            }
            Shortage::OpenFiles | Shortage::OpenFilesOfMachine => {
                "close other programs, raise the limit of the machine, or give a lower --concurrency"
            }
            Shortage::Ports => {
                "other programs of this machine have too many connections: wait a minute, or give a lower --concurrency"
            }
            Shortage::Buffers => "close other programs, or give a lower --concurrency",
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_found_at_any_depth() {
        use rustix::io::Errno;
        let of = io::Error::from;
        assert_eq!(Shortage::behind(&of(Errno::MFILE)), Some(Shortage::OpenFiles));
        assert_eq!(Shortage::behind(&io::Error::other(of(Errno::NFILE))), Some(Shortage::OpenFilesOfMachine));
        let deep = io::Error::other(io::Error::other(of(Errno::ADDRNOTAVAIL)));
        assert_eq!(Shortage::behind(&deep), Some(Shortage::Ports));
        assert_eq!(Shortage::behind(&of(Errno::CONNREFUSED)), None);
        assert_eq!(Shortage::behind(&io::Error::other("closed")), None);
    }
}
