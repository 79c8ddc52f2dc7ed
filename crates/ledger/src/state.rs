//! The states of records and runs, with their names in the database, in reports and in JSON.
//!
//! The state of a record is derived from plan and outcome, so no state has to be repaired after a crash:
//!
//! | plan | outcome | state |
//! |---|---|---|
//! | skipped | – | skipped |
//! | accepted earlier | – | unchanged: the retried run has sent the record |
//! | rejected | – | rejected |
//! | to be sent | none | pending; if covered by an intent, the record may have been sent |
//! | to be sent | sent, failed, unknown, unchanged, rejected, skipped | the same (*rejected*, *skipped*: a later row has the same key; *unchanged*, *rejected*: another run has sent the record) |

/// The state of a record. Every record of a run has exactly one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    /// Accepted by the service.
    Sent,
    /// Not sent, because the service already has the record.
    Unchanged,
    /// Excluded by the template, by the chosen rows, or because another record with the same key counts.
    Skipped,
    /// Invalid in the sheet, never sent.
    Rejected,
    /// Refused by the service.
    Failed,
    /// Sent, with an unknown result.
    Unknown,
    /// Not sent yet. No outcome is stored.
    Pending,
}

/// The name and explanation of records with a warning in summaries. These records also count in one of the states.
pub const WARNED: (&str, &str) = ("warned", "probably wrong, but not held back");

impl RecordState {
    /// All states, in the order of summaries.
    pub const ALL: [RecordState; 7] = [
        RecordState::Sent,
        RecordState::Unchanged,
        RecordState::Skipped,
        RecordState::Rejected,
        RecordState::Failed,
        RecordState::Unknown,
        RecordState::Pending,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RecordState::Sent => "sent",
            RecordState::Unchanged => "unchanged",
            RecordState::Skipped => "skipped",
            RecordState::Rejected => "rejected",
            RecordState::Failed => "failed",
            RecordState::Unknown => "unknown",
            RecordState::Pending => "pending",
        }
    }

    pub fn from_name(name: &str) -> Option<RecordState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// The explanation shown in summaries.
    pub fn meaning(self) -> &'static str {
        match self {
            RecordState::Sent => "accepted by the service",
            RecordState::Unchanged => "already in the service, not sent",
            RecordState::Skipped => "left out on purpose",
            RecordState::Rejected => "wrong in the sheet, not sent",
            RecordState::Failed => "refused by the service",
            RecordState::Unknown => "may or may not have been applied",
            RecordState::Pending => "not sent yet",
        }
    }

    /// Whether a person has to act on the record.
    pub fn is_problem(self) -> bool {
        matches!(self, RecordState::Rejected | RecordState::Failed | RecordState::Unknown | RecordState::Pending)
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The plan is incomplete: the planning process is working or has died. Nothing was sent.
    Planning,
    /// The plan is complete. Some records may have been sent.
    Planned,
    /// Waiting for workers to send the pending records.
    Queued,
    /// No record is pending.
    Finished,
    /// The plan is complete but will not be sent: rows were rejected and `--all-or-nothing` was given.
    Withheld,
}

impl RunState {
    pub fn name(self) -> &'static str {
        match self {
            RunState::Planning => "planning",
            RunState::Planned => "planned",
            RunState::Queued => "queued",
            RunState::Finished => "finished",
            RunState::Withheld => "withheld",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<RunState> {
        [RunState::Planning, RunState::Planned, RunState::Queued, RunState::Finished, RunState::Withheld]
            .into_iter()
            .find(|state| state.name() == name)
    }
}
