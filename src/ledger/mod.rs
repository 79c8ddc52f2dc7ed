//! The ledger: planned records, intents to send and outcomes, stored durably.
//!
//! All SQL of the client side is in this folder. A plan is written once and never changed; intents and outcomes are
//! only added. The state of a record follows from its plan and its outcome, so a crash at any moment leaves a valid
//! ledger. Request bodies and row cells are opaque here. `docs/ledger.md` describes the tables.

mod accepted;
mod accounting;
mod again;
mod block;
mod causes;
mod claims;
mod database;
mod edits;
mod error;
mod event;
mod family;
mod gate;
mod handshake;
mod history;
mod ids;
mod in_flight;
mod integrity;
mod lasting;
mod lease;
mod lock;
mod lock_file;
mod model;
mod newer;
mod open_files;
mod outcomes;
mod page_size;
mod plan;
mod postgres;
mod profile;
mod prune;
mod queue;
mod rate;
mod resolve;
mod retry;
mod row_states;
mod run;
mod settings;
mod sqlite;
mod state;
mod tables;
mod unsent;

pub use accounting::Accounting;
pub use again::Attempts;
pub use block::{BLOCK_LEN, RecordBlock, SourceBlock};
pub use causes::{Causes, FIRST_ROWS, Group};
pub use claims::{Claim, ClaimDigest, ClaimName, EarlierClaim, EarlierState, Likeness, NamePart};
pub use database::Ledger;
pub use edits::Edit;
pub use error::{Error, Holder};
pub use event::{Action, RunEvent, user_name};
pub use family::Family;
pub use gate::{Gate, Granted};
pub use handshake::Intent;
pub use ids::{Part, RunId, Seq};
pub use in_flight::{Interrupted, SendingChanges};
pub use integrity::inspect::Inspection;
pub use integrity::part::DamagedPart;
pub use integrity::repair::Repaired;
pub use lock::{LockedRun, NamedLock, UploadLock};
pub use model::{
    AcceptedEarlier, Disposition, FROM_SERVICE, Origin, Outcome, PlannedRecord, Problem, SkipReason, SourceRow,
};
pub use newer::{NewerKeys, NewerRequest};
pub use page_size::PageSizes;
pub use plan::Plan;
pub use profile::StoredProfile;
pub use queue::TakenPart;
pub use resolve::{Resolution, UnknownRecord};
pub use row_states::{KnownRow, RowQuery, RowState, RowStates};
pub use run::{CallOption, NewRun, REHEARSAL, Run, RunCommand, RunLookups, SheetSelection, TextForm};
pub use settings::{AllowRepeat, RunConnection, RunRate, RunSettings};
pub use state::{RecordState, RunState, WARNED};

pub use crate::sql::ServerAddress;
