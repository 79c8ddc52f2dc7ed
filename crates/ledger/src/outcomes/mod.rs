//! Outcomes of records, decisions about unknown outcomes, and the number of records in each state.
//!
//! Every outcome is a row, with plain columns for the response of the service. A person's decision about an unknown record is a row of
//! `resolution`: the decision takes precedence, and the outcome is kept.

mod accounting;
pub(super) mod resolve;
mod settled;

pub use accounting::Accounting;
pub(super) use accounting::{accounting_in, accounting_of, accounting_queries};
pub use resolve::{Resolution, UnknownRecord};
pub(super) use settled::{Added, checksum, insert_outcomes, inserting_outcomes, outcome_state};
