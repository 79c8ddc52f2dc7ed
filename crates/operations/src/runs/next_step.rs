//! What is to be done next with a run.

use sheetport_ledger::{Accounting, Run, RunId};

use super::super::context::Context;
use super::super::results::next_command;
use super::list_runs::{RunStatus, show_run};
use crate::operation::Operation;

/// What continues a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Sending goes on.
    Resume,
    /// A person decides about the records whose outcome is unknown.
    Resolve,
    /// A person approves the plan.
    Approve,
    /// Other processes send it.
    Wait,
    /// Rows are fixed in its report.
    Fix,
    /// The file is read again, because it was not read to its end.
    Begin,
    /// What the ledger has lost is looked at.
    Check,
    Nothing,
}

/// A run with what continues it.
#[derive(Debug)]
pub struct Continued {
    pub run: RunId,
    pub status: RunStatus,
    pub step: NextStep,
    /// The command for it, if there is one.
    pub next: Option<String>,
}

/// Returns what continues a run, or the newest one. A run that was retried is continued by its newest retry.
///
/// # Errors
/// If there is no such run, or the ledger can't be read.
pub fn next_step(context: &Context, run: Option<RunId>) -> Operation<'_, Continued> {
    Box::pin(async move {
        let mut details = show_run(context, run).await?;
        while let Some(retry) = details.retried_by.filter(|retry| *retry > details.run.id) {
            details = show_run(context, Some(retry)).await?;
        }
        let (run, accounting) = (&details.run, &details.accounting);
        let waits = run.looked_at.is_some() && run.approved_at.is_none();
        let step = decide(details.status, waits, accounting);
        let next = command(context, step, run);
        Ok(Continued { run: run.id, status: details.status, step, next })
    })
}

/// Decides by the state of a run, whether it is a plan that nobody has approved, and its counts.
fn decide(status: RunStatus, waits_for_approval: bool, accounting: &Accounting) -> NextStep {
    match status {
        RunStatus::Damaged => NextStep::Check,
        RunStatus::Aborted => NextStep::Begin,
        RunStatus::Running | RunStatus::Queued => NextStep::Wait,
        RunStatus::Planned if waits_for_approval => NextStep::Approve,
        RunStatus::Planned | RunStatus::Stopped | RunStatus::Done if accounting.pending > 0 => NextStep::Resume,
        _ if accounting.unknown > 0 => NextStep::Resolve,
        RunStatus::Withheld => NextStep::Fix,
        _ if next_command::has_problems(accounting) => NextStep::Fix,
        _ => NextStep::Nothing,
    }
}

fn command(context: &Context, step: NextStep, run: &Run) -> Option<String> {
    match step {
        NextStep::Resume => Some(next_command::resume(context, run.id)),
        NextStep::Resolve => Some(next_command::resolve(context, run.id)),
        NextStep::Fix => Some(next_command::report_of_problems(context, run.id)),
        NextStep::Approve => Some(next_command::apply(context, run.id, None)),
        NextStep::Wait => Some(next_command::wait(context, run.id)),
        NextStep::Begin => next_command::begin_again(context, run),
        NextStep::Check => Some(next_command::check(context, run.id)),
        NextStep::Nothing => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_continued_by_what_it_lacks() {
        let counts = |pending, unknown, rejected| Accounting { pending, unknown, rejected, ..Accounting::default() };
        for (status, waits, accounting, expected) in [
            (RunStatus::Stopped, false, counts(5, 0, 1), NextStep::Resume),
            (RunStatus::Stopped, true, counts(5, 0, 1), NextStep::Resume),
            (RunStatus::Planned, false, counts(5, 0, 0), NextStep::Resume),
            (RunStatus::Planned, true, counts(5, 0, 0), NextStep::Approve),
            // Sending comes first: a person decides once, about all of them.
            (RunStatus::Stopped, false, counts(5, 2, 0), NextStep::Resume),
            (RunStatus::Done, false, counts(0, 2, 1), NextStep::Resolve),
            (RunStatus::Done, false, counts(0, 0, 1), NextStep::Fix),
            (RunStatus::Done, false, counts(0, 0, 0), NextStep::Nothing),
            (RunStatus::Withheld, false, counts(5, 0, 0), NextStep::Fix),
            (RunStatus::Running, false, counts(5, 0, 0), NextStep::Wait),
            (RunStatus::Queued, false, counts(5, 0, 0), NextStep::Wait),
            (RunStatus::Aborted, false, counts(0, 0, 0), NextStep::Begin),
            (RunStatus::Damaged, false, counts(5, 2, 1), NextStep::Check),
        ] {
            assert_eq!(decide(status, waits, &accounting), expected, "{status:?} {waits} {accounting:?}");
        }
    }
}
