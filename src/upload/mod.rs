//! An upload in its two halves: *plan* reads the whole file into the ledger, *send* works through what was planned.
//!
//! Nothing is sent from a file that was not read to its end, and nothing is sent that the ledger does not hold.

mod arrange;
mod assemble;
pub mod dispatch;
pub mod error;
pub mod handed_back;
mod keys;
pub mod listed;
pub mod origin;
pub mod plan;
pub mod read;
mod retrial;
mod rows;
pub mod send;
pub mod source;
pub mod tally;
pub mod typed;

pub use error::Error;
pub use handed_back::HandedBack;
pub use send::{Ended, Progress, StopReason, Work};
pub use source::Source;
pub use tally::Tally;
