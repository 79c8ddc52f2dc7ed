//! The ledger: what was planned, what may have been sent, and what became of it, on disk before it is relied upon.
//!
//! All SQL of the client side is in this folder. A plan is written once, in blocks, and never changed; intents and
//! outcomes are only ever added. So the state of a record is what its plan and its outcome say together, and a crash at
//! any moment leaves a ledger that is right. The bodies of requests and the cells of rows are opaque here.

mod block;
mod error;
mod open;
mod plan;
mod run;
mod send;

pub use block::{Cells, Fate, PlannedRecord, Problem, SourceRow};
pub use error::Error;
pub use open::Ledger;
pub use plan::{Plan, Planned};
pub use run::{Accounting, NewRun, Run, RunState, SEVERAL_SHEETS};
pub use send::{Outcome, OutcomeState, RecordBlock};

/// The number that a run is known by.
pub type RunId = i64;

/// A record's place within its run, from 0.
pub type Seq = i64;
