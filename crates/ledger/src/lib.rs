//! The ledger: planned records, intents to send and outcomes, stored durably.
//!
//! All SQL of the client side is in this crate. A plan is written once and never changed; intents and outcomes are
//! only added. The state of a record follows from its plan and its outcome, so a crash at any moment leaves a valid
//! ledger. Request bodies and row cells are opaque here; neither templates nor the transport are known. `docs/ledger.md` describes the tables
//! for queries by people.
//!
//! Each folder imports only from the folders before it: `locks`, `database`, `checksums`, `records`, `outcomes`, `runs`,
//! `history`, and then the others, which don't import from each other.
//!
//! | module | purpose |
//! |---|---|
//! | [`state`] | the states of records and runs; begin here |
//! | [`locks`], [`database`] | locks as files and as leases, the place and the clock of a database; the connection to SQLite or PostgreSQL, tables and migrations; lost ends |
//! | [`records`], [`outcomes`] | rows and planned records in blocks; outcomes, and decisions of people |
//! | [`runs`] | settings, plans, locks, history and families of runs |
//! | [`history`] | requests of other runs for the same records, and whether a record may be sent |
//! | [`sending`], [`retries`] | queued runs and records in flight; the rows of a run after all runs of the family |
//! | [`checksums`], [`integrity`] | detection of damage |
//! | [`removal`], [`spreadsheets`], [`limits`], [`event`] | pruning and erasing, edits and profiles, rates and page sizes, the history |
//! | `activities` | exports and runs of jobs, for the list of what was done |
//!
//! - A run is sent only under its lock, and the compiler enforces this: `send` takes a [`LockedRun`], only returned by `Ledger::lock_run` and
//!   `Ledger::lock_run_with`. The lock covers all runs of an upload, so a resume and a retry of the same records never run at the
//!   same time.
//! - `total = sent + unchanged + skipped + rejected + failed + unknown + pending` at any moment, after any crash.
//! - An intent is on disk before the request is sent, and an event is written in the transaction of the change. No decision depends on events.

mod activities;
mod checksums;
mod database;
mod error;
mod event;
mod history;
mod ids;
mod integrity;
mod limits;
mod locks;
mod outcomes;
mod records;
mod removal;
mod retries;
mod runs;
mod sending;
mod spreadsheets;
mod state;

pub use activities::{Activity, ActivityEnd, ActivityKind, ActivityOutcome, NewActivity};
pub use database::{Attempts, Ledger, Loss, LostEnd, Older, Patience, Reach};
pub use error::{Error, GO_ON, Holder};
pub use event::{Action, RunEvent, act_as, user_name};
pub use history::{
    Claim, ClaimDigest, ClaimName, Decision, EarlierClaim, EarlierState, Fact, Intent, KeyScope, KeyedRequest, Known,
    Likeness, NamePart, NewerKeys, OtherRequest, Policy, decide,
};
pub use ids::{Part, RunId, Seq};
pub use integrity::Inspection;
pub use limits::{Gate, Granted, PageSizes};
pub use outcomes::{Accounting, Resolution, UnknownRecord};
pub use records::{
    AcceptedEarlier, BLOCK_LEN, Causes, Disposition, FIRST_ROWS, Group, Origin, Outcome, PlannedRecord, Problem,
    RecordBlock, Seen, SeenField, SourceBlock, SourceRow,
};
pub use removal::Erased;
pub use retries::{BelowMark, HeldMark, HeldProblem, JudgedBy, KnownRow, RowQuery, RowState, RowStates, cell_hash};
pub use runs::{
    AllowRepeat, CHECK, CallOption, Family, LockedRun, NAME_FIELD, NamedLock, NewRun, Plan, REHEARSAL, Run, RunCommand,
    RunConnection, RunLookups, RunRate, RunSettings, SheetSelection, TextForm, UploadLock,
};
pub use sending::{Backlog, Begun, Doubt, InQueue, Interrupted, NextRun, SendingChanges, TakenPart};
pub use spreadsheets::{Edit, StoredProfile};
pub use state::{RecordState, RunState, WARNED};

pub use sheetport_sql::ServerAddress;
