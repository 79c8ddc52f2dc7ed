//! Uploads in two steps: *plan* reads the whole file into the ledger, *send* works through the plan.
//!
//! Files are read to the end before sending, and only records in the ledger are sent.

pub mod compare;
mod edits;
pub mod error;
pub mod plan;
pub mod profile;
mod respelled;
pub mod retry;
pub mod sent_before;
pub mod tally;

pub use edits::{EditedRow, Edits};
pub use error::Error;
pub use plan::Source;
pub use tally::Tally;
