//! Errors that end a worker.

use sheetport_operations::error::Error;
use sheetport_plan as plan;

/// Whether the ledger fails in the same way until somebody changes the database or the program.
pub(super) fn is_lasting(error: &Error) -> bool {
    match error {
        Error::Ledger(error) | Error::Upload(plan::Error::Ledger(error)) => error.is_lasting(),
        Error::InRun { error, .. } | Error::WithHint { error, .. } | Error::WithOtherHint { error, .. } => {
            is_lasting(error)
        }
        _ => false,
    }
}
