//! Locks as rows of a server, and as files of a machine.

mod clock;
mod file;
mod identity;
mod key;
mod lease;
mod place;
mod turn;

pub(super) use clock::NOW;
pub(super) use file::LockFile;
pub(super) use identity::{file_name, is_identity};
pub(super) use lease::{Checked, Lease, Leases, Trace, is_broken};
pub(super) use place::Place;
