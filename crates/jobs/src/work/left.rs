//! What a worker does not send, and why.

use std::fmt;
use std::path::PathBuf;

use sheetport_client::{Stop, TlsProblem};
use sheetport_ledger::RunId;
use sheetport_operations::error::Error;
use sheetport_send::StopReason;

use crate::FileOutcome;

/// Work that a worker could not send, and the obstacle.
#[derive(Debug)]
pub struct Left {
    pub what: Unsent,
    pub why: Obstacle,
}

/// A queued run or a file of the inbox.
#[derive(Debug)]
pub enum Unsent {
    Run(RunId),
    File(PathBuf),
}

/// Why this worker can't send something now.
#[derive(Debug)]
pub enum Obstacle {
    /// Nothing was tried.
    Error(Error),
    /// Sending has stopped.
    Stopped(StopReason),
    /// The run belongs to a workspace for which other workers have tokens.
    OtherWorkspace { planned: String, here: String },
    /// The folder of tokens has none of the workspace of the run.
    NoTokens { planned: String, folder: PathBuf },
}

impl Obstacle {
    /// Returns how to remove the obstacle, or `None` if it goes away by itself.
    pub fn hint(&self) -> Option<String> {
        match self {
            Obstacle::Error(error) => error.hint(),
            Obstacle::Stopped(StopReason::Service(stop)) => Some(stop.hint().to_owned()),
            Obstacle::Stopped(_) => None,
            Obstacle::OtherWorkspace { .. } => Some("run a worker with a token of that workspace".to_owned()),
            Obstacle::NoTokens { planned, folder } => {
                Some(format!("write them into {}", folder.join(format!("{planned}.toml")).display()))
            }
        }
    }

    /// Whether the obstacle is in the way of this worker only, so that others may send the run.
    pub(super) fn is_of_this_worker(reason: &StopReason) -> bool {
        match reason {
            StopReason::Service(Stop::Unauthorized(_) | Stop::Forbidden(_) | Stop::ProxyCredentials) => true,
            // A wrong scheme is a mistake in the address of the run.
            StopReason::Service(Stop::Untrusted(problem)) => {
                !matches!(problem, TlsProblem::SpeaksPlainHttp | TlsProblem::SpeaksTls)
            }
            _ => false,
        }
    }

    /// Whether every attempt asks the service in vain, so that the pauses should grow.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Obstacle::Stopped(reason) if Obstacle::is_of_this_worker(reason))
    }

    /// Whether another worker is to send the run.
    pub(super) fn is_for_others(&self) -> bool {
        matches!(self, Obstacle::OtherWorkspace { .. } | Obstacle::NoTokens { .. })
    }

    /// Returns why a file stays in the inbox.
    pub(super) fn of_file(file: FileOutcome) -> Obstacle {
        let why = file.problem();
        match file.result {
            Err(error) => Obstacle::Error(error),
            Ok(finished) => match finished.stopped {
                Some(reason) => Obstacle::Stopped(reason),
                None => Obstacle::Error(Error::Local {
                    message: why.unwrap_or_else(|| format!("{} can't be moved", file.now.display())),
                    hint: "check the permissions of the folders".to_owned(),
                }),
            },
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Error(error) => error.fmt(f),
            Obstacle::Stopped(reason) => reason.fmt(f),
            Obstacle::OtherWorkspace { planned, here } => {
                write!(f, "it is for the workspace '{planned}', and the token here is for '{here}'")
            }
            Obstacle::NoTokens { planned, folder } => {
                write!(f, "it is for the workspace '{planned}', of which {} has no tokens", folder.display())
            }
        }
    }
}
