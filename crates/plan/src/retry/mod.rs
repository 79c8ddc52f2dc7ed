//! Retrying a run with a report: rows not accepted yet are planned again, as a new run.
//!
//! A [`Report`] is a file with our columns, including the origin of each row: the column `sheetport_run` identifies the run. [`load_history`]
//! reads the states of these rows from the ledger, after all runs of the family, under a common lock. Then everything is pure: a
//! [`ReportHistory`] gives the history of each row, and a [`Reviewer`] decides about each record. The ledger decides, not the report; a row
//! with an unclear origin is a problem. No run is planned while another run of the family has pending records. `fingerprint` detects edited
//! rows, and `lossy` restores cells that a report cannot represent.

mod checked;
mod fingerprint;
mod held;
mod history;
mod load;
mod lossy;
mod report;
mod review;

pub(super) use checked::{CheckedRecords, CheckedRow};
pub(super) use held::{Answers, rejected_in_check};
pub use history::ReportHistory;
pub(super) use history::{RowHistory, RowStatus};
pub use load::load_history;
pub use lossy::LossyFields;
pub use report::Report;
pub(super) use review::{Claimant, Reviewer, torn};
