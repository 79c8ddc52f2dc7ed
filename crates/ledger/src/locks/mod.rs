//! Locks as rows of a server, and as files of a machine.

mod file;
mod identity;
mod lease;

pub(super) use file::LockFile;
pub(super) use identity::{file_name, is_identity};
pub(super) use lease::{Lease, Leases};
