//! Reasons for an early stop of a run.

use sheetport_client::{Stop, TlsProblem};

/// The reason why a run stopped early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    #[error("it was interrupted")]
    Interrupted,
    /// No further request to the service can succeed.
    #[error(transparent)]
    Service(#[from] Stop),
    /// Too large a share of the requests had to be repeated; the last failure.
    #[error("too many requests had to be repeated: {0}")]
    TooManyRetries(String),
    /// More records were refused or are unknown than `--max-errors` allows.
    #[error("{0} records were refused or are unknown, more than --max-errors allows")]
    TooManyErrors(u64),
    /// More records are unknown than `--max-unknown` allows.
    #[error("{0} records are unknown, more than --max-unknown allows")]
    UnknownBeyondLimit(u64),
    /// Too many non-idempotent calls got no usable answer; the last failure.
    #[error("too many requests got no usable answer, so their records are unknown: {0}")]
    TooManyUnknown(String),
    /// Some records used up all attempts without a usable answer; the last failure.
    #[error("{records} {} got no answer in several attempts: {reason}", if *records == 1 { "record" } else { "records" })]
    LeftPending { records: u64, reason: String },
    /// Records of this part follow other records with the same key that have no outcome yet.
    #[error("some records wait for others with the same key")]
    Waits,
    /// The records of the next batch could not be read again before sending; the reason.
    #[error("{0}")]
    Unseen(String),
    /// Another process has stopped the run; the reason as stored.
    #[error("{0}")]
    Elsewhere(String),
}

impl StopReason {
    /// Whether the address of the run is wrong, so that the run can't be resumed: a run keeps its address. If the service has
    /// accepted records at this address (`has_sent`), the redirect has another reason.
    pub fn is_wrong_address(&self, has_sent: bool) -> bool {
        matches!(self, StopReason::Service(Stop::Redirected { .. })) && !has_sent
    }

    /// Whether the run may continue automatically when the service answers again.
    pub fn is_temporary(&self) -> bool {
        match self {
            StopReason::Interrupted
            | StopReason::Waits
            | StopReason::LeftPending { .. }
            | StopReason::TooManyRetries(_)
            | StopReason::Unseen(_)
            | StopReason::Service(Stop::Unreachable(_) | Stop::Throttled | Stop::WaitTooLong(_)) => true,
            StopReason::Service(_)
            | StopReason::TooManyErrors(_)
            | StopReason::UnknownBeyondLimit(_)
            | StopReason::TooManyUnknown(_)
            | StopReason::Elsewhere(_) => false,
        }
    }

    /// Returns a hint for the user. `has_sent`: whether the run has sent records.
    pub fn hint(&self, has_sent: bool) -> Option<String> {
        Some(match self {
            StopReason::Interrupted | StopReason::Waits | StopReason::Elsewhere(_) => return None,
            StopReason::Service(Stop::Redirected { .. }) if has_sent => {
                "the service answered at this address before; wait until it does so again; then resume".to_owned()
            }
            StopReason::Service(stop @ Stop::Redirected { .. }) => {
                format!("{}; then upload the file again, because a run keeps its address", stop.hint())
            }
            StopReason::Service(
                stop @ Stop::Untrusted(
                    TlsProblem::SpeaksPlainHttp | TlsProblem::SpeaksTls | TlsProblem::WrongHost { .. },
                ),
            ) => {
                format!("{}; with another address, upload the file again, because a run keeps its address", stop.hint())
            }
            StopReason::Service(Stop::WrongAddress) => {
                "if the base address is wrong, upload the file again with the right one; otherwise resume".to_owned()
            }
            StopReason::Service(stop) => format!("{}; then resume", stop.hint()),
            StopReason::LeftPending { .. } => {
                "check the address and that the service is running; then resume".to_owned()
            }
            StopReason::Unseen(_) => "resume when the service can be read again: it looks first".to_owned(),
            StopReason::TooManyErrors(_) => {
                "look at these records first; then resume, with a higher --max-errors if there may be more".to_owned()
            }
            StopReason::TooManyUnknown(_) => {
                "look the unknown records up in the service, and note with `sheetport resolve` what it has; then resume, with `--max-unknown 100` if the service stays unreliable and so many unknown records are acceptable".to_owned()
            }
            StopReason::UnknownBeyondLimit(_) => {
                "look the unknown records up in the service, and note with `sheetport resolve` what it has; then resume, with a higher --max-unknown if there may be more".to_owned()
            }
            StopReason::TooManyRetries(_) => {
                "resume later; if it happens again, contact the service's support".to_owned()
            }
        })
    }
}
