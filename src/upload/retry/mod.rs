//! Trying a run again by its report: somebody hands the report back, and what was not accepted yet is planned anew.
//!
//! A [`Report`] is a file with our columns, which say where its rows come from. [`PastRun::load`] reads from the ledger
//! what became of the rows of its run. The rest is pure: a [`PastRun`] comes to a verdict on each row of the report, and
//! a `Reviewer` on each record. The ledger is the truth, and what a row does not say plainly is a problem, never a guess.

mod fingerprint;
mod load;
mod lost;
mod origin;
mod report;
mod review;

pub use lost::Lost;
pub use origin::PastRun;
pub(super) use origin::{Past, Verdict};
pub use report::Report;
pub(super) use review::{Asked, Reviewer};
