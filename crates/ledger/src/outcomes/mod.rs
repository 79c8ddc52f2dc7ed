//! Outcomes of records, decisions about unknown outcomes, and the number of records in each state.

mod accounting;
pub(super) mod resolve;
mod settled;

pub use accounting::Accounting;
pub(super) use accounting::accounting_in;
pub use resolve::{Resolution, UnknownRecord};
pub(super) use settled::{checksum, insert_outcomes, outcome_state};
