//! The changes of a file under review, as a person has looked at them, until they are sent or forgotten.

use sheetport_ledger::RunId;
use sheetport_operations::review::PlanReview;
use sheetport_plan::approve::Mark;

use super::super::http::Failure;

/// A planned upload of the file, compared with the service.
pub(crate) struct Look {
    pub plan: PlanReview,
    /// The revision of the file that was planned.
    pub revision: u64,
    /// Whether the service's other lines of orders are sent, too.
    pub keep_lines: bool,
    /// Raised by every decision.
    pub version: u64,
    pub notes: Vec<String>,
}

impl Look {
    /// Returns a yes or a no to each change, if the plan is `run`, the file still has the `revision` that was planned, and the last decision
    /// is that of `version`.
    ///
    /// # Errors
    /// If one of these is not so: what a person has approved is something else.
    pub(crate) fn approved(
        look: Option<&Look>,
        revision: u64,
        (run, version): (RunId, u64),
    ) -> Result<Vec<Mark>, Failure> {
        let look = look.ok_or_else(gone)?;
        look.demand(revision, (run, version))?;
        Ok(look.plan.changes.marks())
    }

    /// Demands that a person sees this look as it is now: the plan is `run`, the file still has the `revision` that was planned, and the last
    /// decision is that of `version`.
    ///
    /// # Errors
    /// If one of these is not so.
    pub(crate) fn demand(&self, revision: u64, (run, version): (RunId, u64)) -> Result<(), Failure> {
        if self.plan.run != run {
            return Err(gone());
        }
        if self.revision != revision {
            let message = "the file was edited after the look at its changes: look again, or send without a look";
            return Err(Failure::bad_request(message));
        }
        if self.version != version {
            let message = "what is approved was changed meanwhile, in another tab: look at it again";
            return Err(Failure::bad_request(message));
        }
        Ok(())
    }
}

/// Says that the changes are not there any more.
pub(crate) fn gone() -> Failure {
    Failure::bad_request("these changes were sent or forgotten meanwhile")
}
