//! What a plan does with a record.

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::{Disposition, Outcome, PlannedRecord, Problem, RecordState};
use sheetport_plan::compare::Change;

/// What a plan does with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Changed,
    /// In the service, and not in the file.
    Gone,
    New,
    /// To be updated, but not in the service.
    NotThere,
    NotCompared,
    /// The same values, but not all of them are shown by the service.
    NotShown,
    Unchanged,
    SentBefore,
    /// Settled before anything was sent, for another reason than that it was sent before.
    Settled(RecordState),
    LeftOut,
    /// Has problems, so it can't be sent.
    Refused,
}

impl Fate {
    /// Whether records of a plan can have a fate with this name.
    pub fn is_named(name: &str) -> bool {
        let fates =
            [Fate::Changed, Fate::Gone, Fate::New, Fate::NotThere, Fate::NotCompared, Fate::NotShown, Fate::Unchanged];
        let others = [Fate::SentBefore, Fate::LeftOut, Fate::Refused];
        let settled = RecordState::ALL.into_iter().map(Fate::Settled);
        fates.into_iter().chain(others).chain(settled).any(|fate| fate.name() == name)
    }

    /// Returns what a plan does with a record of which `outcome` and `change` are known.
    pub(crate) fn of<B>(record: &PlannedRecord<B>, outcome: Option<&Outcome>, change: Option<&Change>) -> Fate {
        match (&record.disposition, outcome, change) {
            (Disposition::Rejected(_), ..) => Fate::Refused,
            (Disposition::Skipped(SkipReason::AlreadySent), ..) | (Disposition::AcceptedEarlier(_), ..) => {
                Fate::SentBefore
            }
            (Disposition::Skipped(_), ..) => Fate::LeftOut,
            // Another row of the file has taken the record back.
            (Disposition::Send(_), Some(Outcome { state: RecordState::Rejected, .. }), _) => Fate::Refused,
            (Disposition::Send(_), Some(outcome), _) => Fate::Settled(outcome.state),
            (Disposition::Send(_), None, None) => Fate::NotCompared,
            (Disposition::Send(_), None, Some(change)) => match change {
                Change::New => Fate::New,
                Change::Changed(_) if record.is_gone() => Fate::Gone,
                Change::Changed(_) => Fate::Changed,
                Change::Unchanged => Fate::Unchanged,
                Change::NotShown => Fate::NotShown,
                Change::Missing => Fate::NotThere,
            },
        }
    }

    /// Returns the word for a file of changes. Programs read it, so it is not translated.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Changed => "changed",
            Fate::Gone => "gone",
            Fate::New => "new",
            Fate::NotThere => "not there",
            Fate::NotCompared => "not compared",
            Fate::NotShown => "not shown",
            Fate::Unchanged => "unchanged",
            Fate::SentBefore => "sent before",
            Fate::Settled(state) => state.name(),
            Fate::LeftOut => "left out",
            Fate::Refused => "refused",
        }
    }

    /// Whether a request is planned for the record, which a person can approve.
    pub fn is_sendable(self) -> bool {
        match self {
            Fate::Changed | Fate::Gone | Fate::New => true,
            Fate::NotThere | Fate::NotCompared | Fate::NotShown | Fate::Unchanged => true,
            Fate::SentBefore | Fate::Settled(_) | Fate::LeftOut | Fate::Refused => false,
        }
    }
}

/// Returns why a record is not sent, if that is known.
pub(crate) fn first_problem<'a, B>(record: &'a PlannedRecord<B>, outcome: Option<&'a Outcome>) -> Option<&'a Problem> {
    match (&record.disposition, outcome) {
        (Disposition::Rejected(problems), _) => problems.first(),
        (_, Some(outcome)) => outcome.problems.first(),
        _ => None,
    }
}

/// Whether an earlier run has sent a record that is settled.
pub(crate) fn is_sent_before(outcome: Option<&Outcome>) -> bool {
    outcome.is_some_and(|outcome| outcome.problems.iter().any(|problem| problem.code == Code::SentBefore))
}
