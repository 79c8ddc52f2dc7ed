//! Runs without a stored plan, because they sent nothing.

use sheetport_ledger::Run;

use super::super::error::Error;

/// Fails if the plan of the run was not kept.
pub(crate) fn check_has_plan(run: &Run, action: &'static str) -> Result<(), Error> {
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
