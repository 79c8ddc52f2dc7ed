//! Comparing the records of a plan with the service before they are sent: those that somebody has changed since it was approved are left
//! out, and those of the other kind if only new or only known records are sent. For a run that is to be undoable, what they have is kept.
//!
//! The records are read before the first one is sent, and those of each batch right before the batch. What somebody changes between this look
//! and the request of a record is overwritten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use sheetport_client::Client;
use sheetport_findings::Only;
use sheetport_ledger::{Causes, Ledger, Outcome, Problem, RecordState, Run, Seen, Seq};
use sheetport_plan::compare::{
    Candidate, Change, Connection, Depth, Difference, Moved, WhyNot, difference, is_listed, moved_on,
};
use tokio::sync::OnceCell;

use super::approval::LeftOutRows;
use super::context::Context;
use super::error::Error;
use super::event::{Event, Observer};
use super::learned::{load_sizes, store_learned_sizes};
use super::planned_records::{Batch, ToCompare, last_of_first};
use super::rate::speed;
use super::results::next_command;

/// Looks at a list that changes while it is read.
const LOOKS: usize = 3;
/// Records in a batch, at least. At 10 requests a second, they are sent within 5 seconds after the look.
const BATCH: u64 = 50;
/// Records in a batch for each request of the look at a list: reading takes at most a fifth of all requests.
const RECORDS_PER_REQUEST: u64 = 4;

/// Looks at the records of a run in the service before they are sent.
pub(super) struct LookAgain<'a> {
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    pub client: &'a Arc<Client>,
    pub run: &'a Run,
    pub observer: Observer<'a>,
    /// What the service had of the records at the plan, loaded at the first look.
    seen: OnceCell<BTreeMap<Seq, Seen>>,
    state: Mutex<State>,
}

/// What is known from earlier looks.
#[derive(Default)]
struct State {
    /// The last record of the first batch, if that was looked at before sending.
    first_batch: Option<Seq>,
    /// Whether records were sent since the first look.
    has_begun: bool,
    /// Requests of the last look.
    requests: u64,
    untold: Untold,
    /// Fields of which it was said that they are not shown.
    told: BTreeSet<&'static str>,
}

/// Records that were left out, and of which nothing was said yet.
#[derive(Default)]
struct Untold {
    moved: u64,
    causes: Causes,
    others: [LeftOutRows; Only::ALL.len()],
}

impl<'a> LookAgain<'a> {
    pub(super) fn new(
        context: &'a Context,
        ledger: &'a Ledger,
        client: &'a Arc<Client>,
        run: &'a Run,
        observer: Observer<'a>,
    ) -> LookAgain<'a> {
        LookAgain { context, ledger, client, run, observer, seen: OnceCell::new(), state: Mutex::default() }
    }

    /// Whether what the service has decides what is sent of the run.
    pub(super) fn is_needed(&self) -> bool {
        let settings = &self.run.about.settings;
        if self.run.looks_again() { !settings.overwrite_newer } else { settings.sends_a_part() }
    }

    /// Looks at the records before the first one is sent: at all of them if they are in a list, otherwise at those of the first batch, since
    /// each takes a request. `is_to_queue`: others send them.
    ///
    /// # Errors
    /// If the service's records can't be read: nothing is sent unseen.
    pub(super) async fn before_sending(&self, is_to_queue: bool) -> Result<(), Error> {
        if !self.is_needed() {
            return Ok(());
        }
        let is_whole = is_to_queue || is_listed(self.run.about.record);
        let mut last = self.look_at(Batch::first(if is_whole { u64::MAX } else { BATCH })).await?;
        self.tell();
        if is_whole {
            last = last_of_first(self.ledger, self.run, self.records_per_batch()).await?;
        }
        self.state().first_batch = Some(last);
        Ok(())
    }

    /// Looks at the next batch of the records from `first` to `last`: other workers send those behind. Returns the last record of the batch.
    ///
    /// # Errors
    /// Why nothing more is sent.
    pub(super) fn batch(&self, first: Seq, last: Seq) -> BoxFuture<'_, Result<Seq, String>> {
        Box::pin(async move {
            let looked_at = self.state().first_batch.take();
            self.state().has_begun = true;
            if let Some(looked_at) = looked_at.filter(|looked_at| first <= *looked_at) {
                return Ok(looked_at);
            }
            let batch = Batch { first, last, most: self.records_per_batch() };
            self.look_at(batch).await.map_err(|error| error.to_string())
        })
    }

    fn records_per_batch(&self) -> u64 {
        match is_listed(self.run.about.record) {
            true => BATCH.max(self.state().requests.saturating_mul(RECORDS_PER_REQUEST)),
            false => BATCH,
        }
    }

    /// Says which records were left out since the last call.
    pub(super) fn tell(&self) {
        let Untold { moved, causes, others } = std::mem::take(&mut self.state().untold);
        if moved > 0 {
            let again = next_command::plan_again(self.context, self.run);
            (self.observer)(Event::MovedOn { records: moved, causes: &causes, again: again.as_deref() });
        }
        for (only, left_out) in Only::ALL.into_iter().zip(&others).filter(|(_, rows)| rows.records > 0) {
            (self.observer)(Event::LeftOutOthers { only, left_out });
        }
    }

    /// Says once which fields are not written because the service does not show them.
    pub(super) fn tell_not_shown(&self, fields: &BTreeSet<&'static str>) {
        let new: Vec<&str> = {
            let mut state = self.state();
            fields.iter().copied().filter(|field| state.told.insert(field)).collect()
        };
        if !new.is_empty() {
            let fields = new.join(", ");
            let message = format!("not written, because the service does not show whether they are blank: {fields}");
            (self.observer)(Event::Warning(&message));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the pending records of a batch, and leaves out those that are not to be sent. Returns the last record of the batch.
    async fn look_at(&self, batch: Batch) -> Result<Seq, Error> {
        match self.run.looks_again() {
            true => self.leave_out_moved(batch).await,
            false => self.leave_out_others(batch).await,
        }
    }

    /// Leaves out the records of an approved plan, or of an undo, that somebody has changed in the service since it was planned.
    async fn leave_out_moved(&self, batch: Batch) -> Result<Seq, Error> {
        let (ledger, run) = (self.ledger, self.run);
        let seen = self.seen.get_or_try_init(|| ledger.seen(run.id)).await?;
        let is_seen = |candidate: &Candidate| seen.contains_key(&candidate.seq);
        let (pending, mut found, last) = self.compare(batch, &is_seen, false).await?;
        let (mut outcomes, mut problems) = (Vec::new(), Vec::new());
        for Pending { seq, row, .. } in pending {
            let Some(then) = seen.get(&seq) else { continue };
            let moved = match (found.records.get(&seq), &found.why_not) {
                (Some(change), _) => moved_on(run.about.record, then, change),
                // Found by its id at the plan, and not in the list any more.
                (None, Some(WhyNot::NoKeys)) => vec![Moved::Gone],
                (None, _) => return Err(self.not_comparable(found.why_not.take())),
            };
            if !moved.is_empty() {
                let moved: Vec<Problem> = moved.iter().map(|moved| Problem { row, ..moved.problem() }).collect();
                problems.extend(moved.iter().cloned());
                outcomes
                    .push(Outcome { problems: moved, ..Outcome::new(seq, RecordState::Skipped, self.ledger.now()) });
            }
        }
        if !outcomes.is_empty() {
            ledger.settle(run.id, &outcomes).await?;
            let untold = &mut self.state().untold;
            untold.moved += outcomes.len() as u64;
            for problem in &problems {
                untold.causes.add(problem.row.unwrap_or_default(), problem);
            }
        }
        Ok(last)
    }

    /// Leaves out new or known records, if only the others are to be sent, as the run or their rows say, and the fields that are not blank, if
    /// only blank ones are to be written. Somebody may have created a record or filled a field since an earlier look. A record that the run itself
    /// had created just before it was killed is left out then, too, with the values that it has.
    ///
    /// Those of a plan were left out when it was made, and what others have changed since is found by its fields.
    async fn leave_out_others(&self, batch: Batch) -> Result<Seq, Error> {
        let fills = self.run.about.settings.fill_blank;
        // An update names the record that it changes.
        let is_meant = |candidate: &Candidate| fills || candidate.target.is_none() && candidate.only.is_some();
        let (pending, mut found, last) = self.compare(batch, &is_meant, fills).await?;
        if found.not_compared > 0 {
            return Err(self.not_distinguished(found.why_not.take()));
        }
        let is_known =
            |record: &Pending| record.is_update || found.records.get(&record.seq).is_some_and(Change::is_known);
        self.settle_others(pending.iter().map(|record| (record, is_known(record)))).await?;
        if fills {
            self.fill_blanks(pending.iter().filter(|record| record.is_taken(is_known(record))), &found).await?;
        }
        Ok(last)
    }

    /// Keeps what the service has of the pending records, if the run is to be undoable. Does so once, before the first request: afterwards,
    /// the service has what was sent.
    ///
    /// # Errors
    /// If the service's records can't be read: a way back was asked for.
    pub(super) async fn keep_before_images(&self) -> Result<(), Error> {
        let (ledger, run) = (self.ledger, self.run);
        if !run.about.settings.undoable || run.looked_at.is_some() {
            return Ok(());
        }
        if ledger.is_begun(run.id).await? || ledger.has_seen(run.id).await? {
            return Ok(());
        }
        let (pending, mut found, _) = self.compare(Batch::first(u64::MAX), &|_| true, false).await?;
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
        ledger.store_seen(run.id, found.seen(), None).await?;
        Ok(())
    }

    /// Stores which records are left out because only the others are sent: each with whether the service has it.
    pub(super) async fn settle_others(&self, records: impl Iterator<Item = (&Pending, bool)>) -> Result<(), Error> {
        let mut outcomes = Vec::new();
        for (record, is_known) in records {
            let (seq, row) = (record.seq, record.row);
            let Some(only) = record.only.filter(|only| !only.takes(is_known)) else { continue };
            let untold = &mut self.state().untold.others;
            Only::ALL.iter().zip(untold).filter(|(other, _)| **other == only).for_each(|(_, rows)| rows.add(row));
            let problem = Problem { row, ..Problem::of_record(only.code(), reason(only, record.says)) };
            outcomes.push(Outcome {
                problems: vec![problem],
                ..Outcome::new(seq, RecordState::Skipped, self.ledger.now())
            });
        }
        self.ledger.settle(self.run.id, &outcomes).await?;
        Ok(())
    }

    /// Compares those pending records of a batch for which `is_meant` holds. Returns all pending records of the batch, and the last of them.
    /// `fills`: only their blank fields are to be written.
    pub(super) async fn compare(
        &self,
        batch: Batch,
        is_meant: &(dyn Fn(&Candidate) -> bool + Sync),
        fills: bool,
    ) -> Result<(Vec<Pending>, Difference, Seq), Error> {
        let (ledger, run) = (self.ledger, self.run);
        let (about, settings) = (&run.about, &run.about.settings);
        let connection = Connection::new(self.client, speed(settings, self.context)?, settings.concurrency);
        load_sizes(self.context, &connection, &about.base_url).await;
        let requests = AtomicU64::new(0);
        // Between two batches, the progress of sending is shown.
        let is_shown = !self.state().has_begun;
        let progress = |done, all| {
            requests.store(done, Ordering::Relaxed);
            if is_shown {
                (self.observer)(Event::Comparing { done, all });
            }
        };
        let mut looks = 1;
        let (all, found, last) = loop {
            let mut all = Vec::new();
            let prepare = &mut |candidate: &mut Candidate| {
                all.push(Pending::of(candidate));
                candidate.fills = fills;
                is_meant(candidate)
            };
            let ToCompare { candidates, not_held, last } =
                ToCompare::load(self.context, ledger, run, batch, prepare).await?;
            let mut found = difference(about.record, candidates, Depth::Whole, &connection, &progress).await?;
            if looks == LOOKS || !matches!(found.why_not, Some(WhyNot::Incomplete(_))) {
                found.not_compared += not_held;
                break (all, found, last);
            }
            looks += 1;
        };
        let requests = requests.load(Ordering::Relaxed);
        self.state().requests = requests;
        if is_shown {
            (self.observer)(Event::ComparingEnded { done: requests });
        }
        store_learned_sizes(self.context, &connection, &about.base_url).await;
        Ok((all, found, last))
    }

    fn not_comparable(&self, why: Option<WhyNot>) -> Error {
        let message = match self.has_begun() {
            false => "nothing was sent, because the service's records can't be compared with the plan again",
            true => "nothing more was sent, because the service's records can't be compared with the plan again",
        };
        let hint =
            "try again later; --overwrite-newer sends without looking at what others have changed since the plan";
        unread(message, why, hint)
    }

    /// Returns the error for a service that does not say which records it has.
    pub(super) fn not_distinguished(&self, why: Option<WhyNot>) -> Error {
        let (settings, has_begun) = (&self.run.about.settings, self.has_begun());
        if settings.fill_blank {
            let message = match has_begun {
                false => "nothing was sent, because it is not known which fields are blank in the service",
                true => "nothing more was sent, because it is not known which fields are blank in the service",
            };
            let hint = "try again later if the service can't be read; otherwise, leave out --fill-blank";
            return unread(message, why, hint);
        }
        let message = match has_begun {
            false => "nothing was sent, because it is not known which records the service has",
            true => "nothing more was sent, because it is not known which records the service has",
        };
        let hint = match settings.only {
            Some(only) => {
                format!("try again later if the service can't be read; otherwise, leave out --only {}", only.name())
            }
            None => "try again later if the service can't be read; otherwise, leave the commands in the rows blank"
                .to_owned(),
        };
        unread(message, why, &hint)
    }

    fn has_begun(&self) -> bool {
        self.state().has_begun
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

pub(super) fn unread(message: &str, why: Option<WhyNot>, hint: &str) -> Error {
    let message = match &why {
        Some(why) => format!("{message}: {why}"),
        None => message.to_owned(),
    };
    match why {
        Some(WhyNot::Failed(error)) => Error::Reworded { error: Box::new(error.into()), message }.with_hint(hint),
        _ => Error::invalid(message, hint),
    }
}
