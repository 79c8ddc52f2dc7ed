//! Uploads in two steps: *plan* reads the whole file into the ledger, *send* works through the plan.
//!
//! Files are read to the end before sending, and only records in the ledger are sent.

pub mod compare;
pub mod dispatch;
mod edits;
pub mod error;
mod interrupt;
pub mod plan;
pub mod profile;
mod respelled;
pub mod retry;
pub mod send;
pub mod sent_before;
pub mod superseded;
pub mod tally;

pub use dispatch::Limits;
pub use dispatch::StopReason;
pub use edits::{EditedRow, Edits};
pub use error::Error;
pub use interrupt::{Grace, Stage, Stopping, pass_on};
pub use plan::Source;
pub use send::{Progress, SendResult, Work};
pub use tally::Tally;
