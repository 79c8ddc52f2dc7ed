//! The first of an upload's two steps: reads the whole file into the ledger. `sheetport_send` works through the plan.
//!
//! Files are read to the end before sending, and only records in the ledger are sent. Knows no command line, no transport beyond reads, and
//! nothing of sending.
//!
//! | module | purpose |
//! |---|---|
//! | [`plan`] | the pass over a file; begin with `plan/read.rs` |
//! | `plan/checks/` | checks beyond single values: of rows, of records against each other, of the file |
//! | [`profile`] | a summary of the values in each field, compared with earlier uploads |
//! | [`compare`] | the file against the service: orders and references before planning, unchanged records, previews |
//! | [`count`] | requests for counted stocks, as the difference from the service; pure |
//! | [`sent_before`] | the file against earlier runs: nothing is created twice |
//! | [`approve`] | the file of a plan's changes, and what a person takes away in it |
//! | [`undo`] | the way back of a record that was sent; pure |
//! | [`retry`] | continues a run from a report |
//! | [`edits`], [`respelled`] | edits of a review, and texts changed by a spreadsheet program |
//! | [`tally`], [`error`] | counters and errors of a pass |

pub mod approve;
pub mod compare;
pub mod count;
mod edits;
pub mod error;
pub mod plan;
pub mod profile;
mod respelled;
pub mod retry;
pub mod sent_before;
pub mod tally;
pub mod undo;

pub use edits::{EditedRow, Edits};
pub use error::Error;
pub use plan::{Source, unanswered};
pub use tally::Tally;
