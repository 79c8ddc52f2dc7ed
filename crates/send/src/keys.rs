//! Calls with an idempotency key: sent again as long as the service remembers the key, and *unknown* after that.

use sheetport_client::IdempotencyKey;
use sheetport_client::policy::Call;
use sheetport_ledger::{Run, Seq};

use super::Sender;
use super::ports::{Journal, Service};
use crate::dispatch::Job;

/// Why a record with a lost answer is not sent again.
const FORGOTTEN: &str = "no request for this record got a usable answer, and the service may have forgotten the idempotency \
                         key of the first one by now";

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Gives a non-idempotent call its key, if the service honours keys.
    pub(super) fn with_key(&mut self, job: Job) -> Job {
        if job.call != Call::NonIdempotent || self.task.keys.is_none() {
            return job;
        }
        let key = idempotency_key(&self.run, job.seq, &job.body);
        let first_attempt = self.repeatable.remove(&job.seq);
        job.with_key(key, first_attempt)
    }

    /// Repeats a record stored as in flight, or gives up if the service may have forgotten its key.
    pub(super) fn repeat_or_give_up(&mut self, job: Job) {
        let remembered = self.task.keys.map(|keys| keys.first_attempts(self.task.journal.now()));
        if remembered.zip(job.in_flight_since).is_some_and(|(times, first)| times.contains(&first)) {
            self.count(&job, 1);
            return self.start(job);
        }
        self.changes.finished.push(job.seq);
        let settled = self.dispatcher.give_up(job, FORGOTTEN);
        self.keep(settled);
    }
}

/// Returns the key of a record: the same for all requests of the record in this run, even after a resume, and unique to the
/// record.
fn idempotency_key(run: &Run, seq: Seq, body: &[u8]) -> IdempotencyKey {
    let numbers = [run.id, run.created_at, seq].map(i64::to_be_bytes);
    let parts = numbers.iter().map(<[u8; 8]>::as_slice);
    IdempotencyKey::of_parts(parts.chain([run.about.file_hash.as_bytes(), body]))
}
