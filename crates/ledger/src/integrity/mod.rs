//! Detection of damage, the check of a run before sending, and repair.
//!
//! Each row that can affect a request has a checksum, each run has the number and sums of its rows (`checksums`), and the
//! file's log is compared with the committed state (`database`). A flipped bit or a lost row is therefore detected before it
//! can affect a request.

mod inspect;
mod part;
mod repair;
mod verify;

pub use inspect::Inspection;
pub use part::DamagedPart;
pub use repair::Repaired;
