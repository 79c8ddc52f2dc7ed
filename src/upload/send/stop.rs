//! Why a run stopped before its end, and what to do about it.

use std::time::Duration;

use crate::client::policy::Stop;
use crate::upload::dispatch::Halt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    Interrupted,
    Unauthorized(String),
    Forbidden(String),
    Redirected {
        status: u16,
    },
    Unreachable(String),
    Throttled,
    WaitTooLong(Duration),
    TooManyRetries(String),
    TooManyErrors(u64),
    /// Some records got no answer in any of their attempts, and why the last of them did not.
    LeftPending {
        records: u64,
        reason: String,
    },
}

impl StopReason {
    /// What to do before the run is resumed.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            StopReason::Interrupted => return None,
            StopReason::Unauthorized(_) => {
                "get a new pair of tokens in the service's developer settings, and run `sheetport login` or set SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN; then resume"
            }
            StopReason::Forbidden(_) => "set the tokens of a pair that has Full Access, then resume",
            StopReason::Redirected { .. } => {
                "check the base address; a run is bound to its own, so upload the file again with the right one"
            }
            StopReason::Unreachable(_) | StopReason::LeftPending { .. } => {
                "check the address and that the service is running, then resume"
            }
            StopReason::Throttled => "resume later, with a lower --rate",
            StopReason::WaitTooLong(_) => "resume when that time is over",
            StopReason::TooManyErrors(_) => {
                "look at the refusals before the rest is sent; then resume with a higher --max-errors, or none"
            }
            StopReason::TooManyRetries(_) => "resume later; if it stays so, ask the service's people",
        })
    }
}

impl From<Halt> for StopReason {
    fn from(halt: Halt) -> StopReason {
        match halt {
            Halt::Policy(Stop::Unauthorized(reason)) => StopReason::Unauthorized(reason),
            Halt::Policy(Stop::Redirected { status }) => StopReason::Redirected { status },
            Halt::Policy(Stop::WaitTooLong(wait)) => StopReason::WaitTooLong(wait),
            Halt::Unreachable(reason) => StopReason::Unreachable(reason),
            Halt::Forbidden(reason) => StopReason::Forbidden(reason),
            Halt::Throttled => StopReason::Throttled,
            Halt::TooManyRetries(reason) => StopReason::TooManyRetries(reason),
            Halt::TooManyErrors(failed) => StopReason::TooManyErrors(failed),
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StopReason::Interrupted => f.write_str("it was interrupted"),
            StopReason::Unauthorized(reason) => write!(f, "the service refused the credentials: {reason}"),
            StopReason::Forbidden(reason) => write!(f, "the token does not allow this: {reason}"),
            StopReason::Redirected { status } => {
                write!(f, "the service redirects ({status}), and a token is not sent after a redirect")
            }
            StopReason::Unreachable(reason) => write!(f, "the service can't be reached: {reason}"),
            StopReason::Throttled => f.write_str("the service keeps refusing requests as too many"),
            StopReason::WaitTooLong(wait) => write!(f, "the service asks to wait {} min", wait.as_secs().div_ceil(60)),
            StopReason::TooManyRetries(reason) => write!(f, "too many requests had to be repeated: {reason}"),
            StopReason::TooManyErrors(failed) => {
                write!(f, "the service refused {failed} records, which is more than --max-errors allows")
            }
            StopReason::LeftPending { records, reason } => {
                let noun = if *records == 1 { "record" } else { "records" };
                write!(f, "{records} {noun} got no answer in several attempts: {reason}")
            }
        }
    }
}
