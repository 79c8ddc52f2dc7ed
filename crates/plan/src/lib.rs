//! The first of an upload's two steps: reads the whole file into the ledger. `sheetport_send` works through the plan.
//!
//! Files are read to the end before sending, and only records in the ledger are sent. Begin reading in [`plan`]; [`compare`] compares a file with
//! the service, [`sent_before`] with earlier runs, and [`retry`] continues a run from its report.

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
