//! Runs that sent nothing, whose rows and records were not kept.

use super::super::error::Error;
use crate::ledger::Run;

/// Fails for a run whose rows were not kept.
pub(in crate::operations) fn check_has_plan(run: &Run, action: &'static str) -> Result<(), Error> {
    if run.has_plan {
        return Ok(());
    }
    Err(Error::RunRefused {
        run: run.id,
        action,
        reason: "it sent nothing, because the service had all of its records, so its rows were not kept".to_owned(),
        hint: "`sheetport upload FILE --report REPORT` keeps them; the rows of a report are sent by `sheetport retry REPORT \
               --as-new`"
            .to_owned(),
    })
}
