//! Simultaneous uploads: the older upload skips the keys of the newer upload, and the newer upload waits for it to do so.

use std::time::{Duration, Instant};

use sheetport_client::policy::Call;
use sheetport_ledger::{self as ledger, Intent, Outcome};
use tokio::task::JoinError;

use super::load::HeldBack;
use super::ports::{Journal, Service};
use super::searches::Searched;
use super::{Sender, now};
use crate::dispatch::Job;
use crate::superseded;

/// Shortest and longest interval of looking whether older uploads have yielded.
const YIELDED_INTERVALS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));
/// Maximum wait for older uploads. Their requests in flight have ended by then, unless a process was suspended.
const LONGEST_WAIT: Duration = Duration::from_secs(150);

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Passes loaded records to the dispatcher. Records with an intent are held back until older uploads have yielded.
    pub(super) fn admit(&mut self, jobs: Vec<Job>, intent: Option<Intent>) {
        match intent {
            Some(intent) => {
                let now = now();
                self.held_back = Some(HeldBack { jobs, intent, since: now, next_look: now });
            }
            None => jobs.into_iter().for_each(|job| self.push(job)),
        }
    }

    /// Passes the held-back records to the dispatcher if no older upload has to yield any more.
    pub(super) async fn admit_held_back(&mut self) -> Result<(), ledger::Error> {
        let now = now();
        let Some(held) = self.held_back.as_mut().filter(|held| held.next_look <= now) else { return Ok(()) };
        let waited = now.saturating_duration_since(held.since);
        held.next_look = now + (waited / 4).clamp(YIELDED_INTERVALS.0, YIELDED_INTERVALS.1);
        let keys: Vec<&str> = held.jobs.iter().filter_map(|job| job.ordering_key.identity()).collect();
        let waits_for = self.task.journal.not_yielded(&self.run, held.intent, &keys).await?;
        let is_over = waited >= LONGEST_WAIT;
        if is_over && !waits_for.is_empty() {
            tracing::warn!(runs = ?waits_for, "older uploads have not yielded");
        }
        if is_over || waits_for.is_empty() {
            self.release_held_back();
        }
        Ok(())
    }

    /// Passes the held-back records to the dispatcher.
    pub(super) fn release_held_back(&mut self) {
        let held = self.held_back.take();
        held.into_iter().flat_map(|held| held.jobs).for_each(|job| self.push(job));
    }

    /// Begins to look for newer uploads since the last search, in a task of its own: the answer of a ledger far away must not hold up the
    /// requests.
    pub(super) fn look_for_newer(&mut self, now: Instant) {
        let Some(mut search) = self.searches.due(now) else { return };
        search.since = now;
        let (journal, run) = (self.task.journal.clone(), self.run.clone());
        self.searches.running.spawn(async move {
            let begun = journal.update_newer_keys(&run, &mut search.found, journal.now()).await?;
            Ok((search, begun))
        });
    }

    /// Takes over what a search has found.
    pub(super) fn take_newer(&mut self, ended: Result<Searched, JoinError>) -> Result<(), ledger::Error> {
        let (mut search, begun) = ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        if let Some(newer) = &mut self.newer {
            newer.take_keys(&mut search.found);
        }
        self.searches.waiting = Some(search);
        self.yielding.extend(begun);
        Ok(())
    }

    /// Yields to newer uploads: skips their keys from now on, and stores this once none of the keys is in flight.
    pub(super) async fn yield_to_newer(&mut self) -> Result<(), ledger::Error> {
        let Some(newer) = &self.newer else { return Ok(()) };
        let is_newer = |key: &str| newer.get(key).is_some();
        if !self.yielding.is_empty() && !self.in_flight.values().any(|key| key.identity().is_some_and(is_newer)) {
            let intents = std::mem::take(&mut self.yielding);
            self.task.journal.yield_to(self.task.part, &intents).await?;
        }
        Ok(())
    }

    /// Starts an idempotent call, unless a newer upload sends the same key.
    pub(super) fn start_or_withdraw(&mut self, job: Job) {
        debug_assert_eq!(job.call, Call::Idempotent);
        let request = match (&self.newer, job.ordering_key.identity()) {
            (Some(newer), Some(identity)) => newer.get(identity),
            _ => None,
        };
        let Some(request) = request else {
            self.count(&job, 1);
            return self.start(job);
        };
        let now = self.task.journal.now();
        superseded::count(&mut self.superseded, &request, None);
        self.doubtful.remove(&job.seq);
        let outcome = superseded::outcome(self.run.id, job.seq, job.key.as_deref(), &request, now);
        self.changes.outcomes.push(Outcome { attempts: job.requests, ..outcome });
        self.dispatcher.withdraw(&job);
    }
}
