//! Comparing the records of a plan with the service before they are sent: those that somebody has changed since it was approved are left
//! out, and those of the other kind if only new or only known records are sent. For a run that is to be undoable, what they have is kept.
//!
//! All records are read before the first one is sent. What somebody changes between this look and the request of a record is overwritten.

use std::sync::atomic::{AtomicU64, Ordering};

use sheetport_findings::Only;
use sheetport_ledger::{Causes, Outcome, Problem, RecordState, RunSettings, Seq};
use sheetport_plan::compare::{Candidate, Change, Connection, Depth, Difference, Moved, WhyNot, difference, moved_on};

use super::approval::LeftOutRows;
use super::context::now;
use super::error::Error;
use super::event::Event;
use super::learned::{load_sizes, store_learned_sizes};
use super::planned_records::{add_last_sent, candidates};
use super::results::next_command;
use super::send::{Sending, speed};

/// Looks at a list that changes while it is read.
const LOOKS: usize = 3;

impl Sending<'_> {
    /// Leaves out the pending records of an approved plan, or of an undo, that somebody has changed in the service since it was planned.
    ///
    /// # Errors
    /// If the service's records can't be read: nothing is sent unseen.
    pub(super) async fn leave_out_moved(&self) -> Result<(), Error> {
        let (ledger, run) = (self.ledger, self.run.run());
        if !run.looks_again() || run.about.settings.overwrite_newer {
            return Ok(());
        }
        let seen = ledger.seen(run.id).await?;
        let (pending, mut found) = self.compare(&|candidate| seen.contains_key(&candidate.seq), false).await?;
        let (mut outcomes, mut causes) = (Vec::new(), Causes::default());
        for Pending { seq, row, .. } in pending.into_iter().filter(|record| seen.contains_key(&record.seq)) {
            let moved = match (found.records.get(&seq), &found.why_not) {
                (Some(change), _) => moved_on(run.about.record, &seen[&seq], change),
                // Found by its id at the plan, and not in the list any more.
                (None, Some(WhyNot::NoKeys)) => vec![Moved::Gone],
                (None, _) => return Err(not_comparable(found.why_not.take())),
            };
            let problems: Vec<Problem> = moved.iter().map(|moved| Problem { row, ..moved.problem() }).collect();
            if !problems.is_empty() {
                for problem in &problems {
                    causes.add(row.unwrap_or_default(), problem);
                }
                outcomes.push(Outcome { problems, ..Outcome::new(seq, RecordState::Skipped, now()) });
            }
        }
        if !outcomes.is_empty() {
            ledger.settle(run.id, &outcomes).await?;
            let again = next_command::plan_again(self.context, run);
            let (records, again) = (outcomes.len() as u64, again.as_deref());
            (self.observer)(Event::MovedOn { records, causes: &causes, again });
        }
        Ok(())
    }

    /// Leaves out new or known records, if only the others are to be sent, as the run or their rows say, and the fields that are not blank, if
    /// only blank ones are to be written. Does so again when the run is resumed: somebody may have created a record or filled a field
    /// meanwhile. A record that the run itself had created just before it was killed is left out then, too, with the values that it has.
    ///
    /// # Errors
    /// If the service does not say which records it has.
    pub(super) async fn leave_out_others(&self) -> Result<(), Error> {
        let run = self.run.run();
        let settings = &run.about.settings;
        let fills = settings.fill_blank;
        if !settings.sends_a_part() {
            return Ok(());
        }
        // Those of a plan were left out when it was made, and what others have changed since is found by its fields.
        if run.looks_again() {
            return Ok(());
        }
        // An update names the record that it changes.
        let is_meant = |candidate: &Candidate| fills || candidate.target.is_none() && candidate.only.is_some();
        let (pending, mut found) = self.compare(&is_meant, fills).await?;
        if found.not_compared > 0 {
            return Err(not_distinguished(settings, found.why_not.take()));
        }
        let is_known =
            |record: &Pending| record.is_update || found.records.get(&record.seq).is_some_and(Change::is_known);
        self.settle_others(pending.iter().map(|record| (record, is_known(record)))).await?;
        if fills {
            self.fill_blanks(pending.iter().filter(|record| record.is_taken(is_known(record))), &found).await?;
        }
        Ok(())
    }

    /// Keeps what the service has of the pending records, if the run is to be undoable. Does so once, before the first request: afterwards,
    /// the service has what was sent.
    ///
    /// # Errors
    /// If the service's records can't be read: a way back was asked for.
    pub(super) async fn keep_before_images(&self) -> Result<(), Error> {
        let (ledger, run) = (self.ledger, self.run.run());
        if !run.about.settings.undoable || run.looked_at.is_some() {
            return Ok(());
        }
        if ledger.is_begun(run.id).await? || ledger.has_seen(run.id).await? {
            return Ok(());
        }
        let (pending, mut found) = self.compare(&|_| true, false).await?;
        let is_failed = matches!(found.why_not, Some(WhyNot::Failed(_) | WhyNot::Incomplete(_)));
        if is_failed || found.records.is_empty() && !pending.is_empty() {
            return Err(not_undoable(found.why_not.take()));
        }
        if found.not_compared > 0 {
            let records = found.not_compared;
            let why = found.why_not.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let message = match records {
                1 => {
                    format!("1 record could not be taken back, because it is not known what the service has of it{why}")
                }
                _ => format!(
                    "{records} records could not be taken back, because it is not known what the service has of them{why}"
                ),
            };
            (self.observer)(Event::Warning(&message));
        }
        ledger.store_seen(run.id, &found.seen(), None).await?;
        Ok(())
    }

    /// Stores which records are left out because only the others are sent: each with whether the service has it.
    pub(super) async fn settle_others(&self, records: impl Iterator<Item = (&Pending, bool)>) -> Result<(), Error> {
        let mut left_out = Only::ALL.map(|only| (only, LeftOutRows::default()));
        let mut outcomes = Vec::new();
        for (record, is_known) in records {
            let (seq, row) = (record.seq, record.row);
            let Some(only) = record.only.filter(|only| !only.takes(is_known)) else { continue };
            left_out.iter_mut().filter(|(other, _)| *other == only).for_each(|(_, rows)| rows.add(row));
            let problem = Problem { row, ..Problem::of_record(only.code(), reason(only, record.says)) };
            outcomes.push(Outcome { problems: vec![problem], ..Outcome::new(seq, RecordState::Skipped, now()) });
        }
        self.ledger.settle(self.run.id(), &outcomes).await?;
        for (only, left_out) in left_out.iter().filter(|(_, rows)| rows.records > 0) {
            (self.observer)(Event::LeftOutOthers { only: *only, left_out });
        }
        Ok(())
    }

    /// Compares the pending records for which `is_meant` holds. Returns all pending records. `fills`: only their blank fields are to be
    /// written.
    async fn compare(
        &self,
        is_meant: &dyn Fn(&Candidate) -> bool,
        fills: bool,
    ) -> Result<(Vec<Pending>, Difference), Error> {
        let (ledger, run) = (self.ledger, self.run.run());
        let (about, settings) = (&run.about, &run.about.settings);
        let (mut pending, not_held) = candidates(ledger, run).await?;
        let all: Vec<Pending> = pending.iter().map(Pending::of).collect();
        let client = self.client.as_ref().expect("a run that is compared has a client");
        let connection = Connection::new(client, speed(settings, self.context)?, settings.concurrency);
        load_sizes(self.context, &connection, &about.base_url).await;
        let requests = AtomicU64::new(0);
        let progress = |done, all| {
            requests.store(done, Ordering::Relaxed);
            (self.observer)(Event::Comparing { done, all });
        };
        let mut looks = 1;
        let mut found = loop {
            pending.retain(is_meant);
            pending.iter_mut().for_each(|candidate| candidate.fills = fills);
            add_last_sent(ledger, run, &mut pending).await?;
            let found = difference(about.record, pending, Depth::Whole, &connection, &progress).await;
            if looks == LOOKS || !matches!(found.why_not, Some(WhyNot::Incomplete(_))) {
                break found;
            }
            looks += 1;
            (pending, _) = candidates(ledger, run).await?;
        };
        found.not_compared += not_held;
        (self.observer)(Event::ComparingEnded { done: requests.load(Ordering::Relaxed) });
        store_learned_sizes(self.context, &connection, &about.base_url).await;
        Ok((all, found))
    }
}

/// A record that is to be sent.
pub(super) struct Pending {
    pub seq: Seq,
    pub row: Option<u64>,
    is_update: bool,
    /// Whether only new or only known records are sent, and whether its row says so.
    pub only: Option<Only>,
    says: bool,
}

impl Pending {
    pub(super) fn of(candidate: &Candidate) -> Pending {
        Pending {
            seq: candidate.seq,
            row: candidate.row,
            is_update: candidate.target.is_some(),
            only: candidate.only,
            says: candidate.command.is_some(),
        }
    }

    /// Whether the record is sent if the service has it, or has it not.
    pub(super) fn is_taken(&self, is_known: bool) -> bool {
        self.only.is_none_or(|only| only.takes(is_known))
    }
}

/// Returns why a record is left out. `says`: its row says it, and not the run.
fn reason(only: Only, says: bool) -> &'static str {
    match (only, says) {
        (Only::New, false) => "is in the service already, and only new records are sent",
        (Only::Known, false) => "is not in the service, and only known records are sent",
        (Only::New, true) => "is in the service already, and its row says to create it",
        (Only::Known, true) => "is not in the service, and its row says to update it",
    }
}

fn not_comparable(why: Option<WhyNot>) -> Error {
    let message = "nothing was sent, because the service's records can't be compared with the plan again";
    unread(
        message,
        why,
        "try again later; --overwrite-newer sends without looking at what others have changed since the plan",
    )
}

/// Returns the error for a service that does not say which records it has.
pub(super) fn not_distinguished(settings: &RunSettings, why: Option<WhyNot>) -> Error {
    if settings.fill_blank {
        let message = "nothing was sent, because it is not known which fields are blank in the service";
        return unread(message, why, "try again later if the service can't be read; otherwise, leave out --fill-blank");
    }
    let message = "nothing was sent, because it is not known which records the service has";
    let hint = match settings.only {
        Some(only) => {
            format!("try again later if the service can't be read; otherwise, leave out --only {}", only.name())
        }
        None => {
            "try again later if the service can't be read; otherwise, leave the commands in the rows blank".to_owned()
        }
    };
    unread(message, why, &hint)
}

/// Returns the error for blank fields that workers are to fill.
pub(super) fn not_queued() -> Error {
    let message = "only blank fields are to be written, and workers send later without a look at what is blank then";
    Error::invalid(message, "leave out --queue, or --fill-blank and fill_blank of the template")
}

fn not_undoable(why: Option<WhyNot>) -> Error {
    let message = "nothing was sent, because what the service has can't be read and kept for an undo";
    unread(message, why, "try again later if the service can't be read; otherwise, leave out --undoable")
}

/// Returns the error for a service that does not show what a run that is to be taken back has changed.
pub(super) fn not_read_for_undo(why: Option<WhyNot>) -> Error {
    let message = "nothing was taken back, because it can't be read what the service has now";
    unread(message, why, "try again later")
}

fn unread(message: &str, why: Option<WhyNot>, hint: &str) -> Error {
    let message = match &why {
        Some(why) => format!("{message}: {why}"),
        None => message.to_owned(),
    };
    match why {
        Some(WhyNot::Failed(error)) => Error::Reworded { error: Box::new(error.into()), message }.with_hint(hint),
        _ => Error::invalid(message, hint),
    }
}
