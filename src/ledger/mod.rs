//! The ledger: what was planned, what may have been sent, and what became of it, on disk before it is relied upon.
//!
//! All SQL of the client side is in this folder. A plan is written once, in blocks, and never changed; intents and
//! outcomes are only ever added. So the state of a record is what its plan and its outcome say together, and a crash at
//! any moment leaves a ledger that is right. Records that must not be sent twice are also noted one by one while they may
//! be under way. The bodies of requests and the cells of rows are opaque here.

mod accepted;
mod block;
mod causes;
mod error;
mod family;
mod lock;
mod open;
mod outcomes;
mod pace;
mod plan;
mod prune;
mod resolve;
mod retry;
mod run;
mod send;
mod under_way;

pub use block::{
    BLOCK_LEN, Fate, HeadFate, Kept, Origin, PlannedRecord, Problem, RecordHead, RecordHeads, Sendable, SourceBlock,
    SourceRow,
};
pub use causes::{Causes, FIRST_ROWS, Group};
pub use error::Error;
pub use family::{Family, PastRow, RowQuestion, RowState, RowStates};
pub use lock::{LockedRun, UploadLock};
pub use open::Ledger;
pub use outcomes::{Noted, Span, Stretch};
pub use plan::{Plan, Planned};
pub use resolve::{Doubtful, Resolution, Verdict};
pub use run::{Accounting, NewRun, Run, RunState, SEVERAL_SHEETS};
pub use send::{Outcome, OutcomeState, RecordBlock, SendableBlock};
pub use under_way::Notes;

/// The number that a run is known by.
pub type RunId = i64;

/// A record's place within its run, from 0.
pub type Seq = i64;
