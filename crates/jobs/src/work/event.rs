//! Events of a worker.

use std::path::Path;

use sheetport_ledger::{Part, Run, RunId};
use sheetport_send::Progress;

use super::left::Obstacle;
use crate::FileOutcome;

/// The activity of a worker.
#[derive(Clone, Copy, Debug)]
pub enum WorkEvent<'a> {
    /// Connected to the ledger, for the first time or again.
    Ready,
    /// The server of the ledger may lose what is committed.
    Warned { why: &'a str, hint: Option<&'a str> },
    /// A part was taken.
    Taken { run: &'a Run, part: Part },
    /// A part was given back or finished.
    Sent { run: &'a Run, part: Part, progress: &'a Progress, millis: i64 },
    /// All records of a run have an outcome.
    Finished { run: RunId },
    /// Workers no longer send the run until somebody resumes it.
    Stopped { run: RunId, why: &'a str },
    /// The run is left to other workers, and tried again later. Repeated only if the obstacle changes.
    SetAside { run: RunId, why: &'a Obstacle },
    /// Old runs were removed.
    Removed { runs: &'a [RunId] },
    /// A file was taken out of the inbox.
    FileTaken { file: &'a Path },
    /// The upload of a file has ended.
    File(&'a FileOutcome),
    /// The ledger or the inbox can't be used now.
    Lost { why: &'a str },
}

/// Receives the events of a worker.
pub(crate) type WorkObserver<'a> = &'a (dyn Fn(WorkEvent<'_>) + Sync);
