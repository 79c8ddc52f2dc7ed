//! The file of changes that a plan writes, and what a person takes away in it before the plan is sent.
//!
//! The plan in the ledger is what counts: the file names its records, and can only leave records and fields out. Programs may have saved it
//! again, with other types of cells, in another order, or with other columns beside.

mod decide;
mod edited;
mod file;
mod id;

pub use decide::{Approve, Decided, Objection, Reason, decide_record, decide_unmarked};
pub use file::{APPROVE, ChangesFile, FIELD, Mark, PLAN, PLANNED, Refused};
pub use id::change_id;
