//! Runs: settings, plans, locks, history, and the family of an upload and its retries.

mod approve;
mod family;
mod history;
mod lock;
mod plan;
mod run;
mod settings;

pub use family::Family;
pub(super) use family::{FAMILY, with_root};
pub use lock::{LockedRun, NamedLock, UploadLock};
pub use plan::Plan;
pub(super) use run::PlannedCounts;
pub use run::{
    CHECK, CallOption, NAME_FIELD, NewRun, REHEARSAL, Run, RunCommand, RunLookups, SheetSelection, TextForm,
};
pub use settings::{AllowRepeat, RunConnection, RunRate, RunSettings};
