//! An upload in its two halves: *plan* reads the whole file into the ledger, *send* works through what was planned.
//!
//! Nothing is sent from a file that was not read to its end, and nothing is sent that the ledger does not hold.

mod arrange;
mod assemble;
pub mod dispatch;
pub mod error;
mod keys;
pub mod listed;
pub mod plan;
pub mod read;
pub mod retry;
mod rows;
pub mod send;
pub mod source;
pub mod tally;

pub use dispatch::StopReason;
pub use error::Error;
pub use send::{Ended, Progress, Work};
pub use source::Source;
pub use tally::Tally;
