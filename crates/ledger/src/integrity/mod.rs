//! Detection of damage, and the check of a run before sending.
//!
//! Each row that can affect a request has a checksum (xxHash3), verified whenever the row is read: runs, blocks, outcomes, claims and
//! decisions. `total` has the number of rows added to a run by sending, with the sums of positions and checksums, changed in the same
//! transaction (`checksums`). A flipped bit or a lost row is therefore detected before it can affect a request. SQLite takes a damaged frame
//! of its log for the end of the log: what must not be repeated and is lost by that is missed by the mark outside of the ledger
//! (`database::mark`), as in an older copy. Before a resume or a retry, `verify` uses the same queries as the sender, because a damaged page
//! can hide rows from some queries only.

mod inspect;
mod verify;

pub use inspect::Inspection;
