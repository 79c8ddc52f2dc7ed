//! Trying a run again by its report: somebody hands the report back, and what was not accepted yet is planned anew.
//!
//! A [`Report`] is a file with our columns, which say where its rows come from. [`PastRun`] knows what became of the
//! rows of its run, and comes to a verdict on each row of the report; a `Reviewer` makes of them what is decided about a
//! record. The ledger is the truth, and both are pure: what is not plain is a problem of its row, never a guess.

mod fingerprint;
mod lost;
mod origin;
mod report;
mod review;

pub use fingerprint::common_columns;
pub use lost::Lost;
pub(super) use origin::{Past, Verdict};
pub use origin::{PastRun, SUSPICIOUS};
pub use report::Report;
pub(super) use review::{Asked, Reviewer};
