//! Detection of damage, the check of a run before sending, and repair.
//!
//! Each row that can affect a request has a checksum (xxHash3), verified whenever the row is read: runs, blocks, outcomes, claims and
//! decisions. `total` has the number of rows added to a run by sending, with the sums of positions and checksums, changed in the same
//! transaction (`checksums`). The file's log is compared with the committed state (`database`). A flipped bit or a lost row is therefore
//! detected before it can affect a request. Before a resume or a retry, `verify` uses the same queries as the sender, because a damaged page
//! can hide rows from some queries only.

mod inspect;
mod part;
mod repair;
mod verify;

pub use inspect::Inspection;
pub use part::DamagedPart;
pub use repair::Repaired;
