//! Writing what is known to the ledger, at once or while further requests are sent.

use sheetport_findings::Code;
use sheetport_ledger::{self as ledger, Outcome, Problem, RecordState};

use super::ports::{Journal, Service};
use super::{STORE_INTERVAL, Sender, now, stored};

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Aborts all requests in flight. The outcome of non-idempotent calls without a key is unknown.
    pub(super) async fn cut_off(&mut self) -> Result<(), ledger::Error> {
        self.settle_ended();
        self.attempts.abort_all();
        for (seq, requests) in std::mem::take(&mut self.unconfirmed) {
            let problem = Problem::of_record(Code::Service, "no answer had come when the run was stopped");
            let unknown = Outcome::new(seq, RecordState::Unknown, self.task.journal.now());
            self.changes.outcomes.push(Outcome { problems: vec![problem], attempts: requests, ..unknown });
            self.changes.finished.push(seq);
            self.dispatcher.forget();
        }
        self.store().await
    }

    /// Writes all changes to the ledger. Durable on return.
    pub(super) async fn store(&mut self) -> Result<(), ledger::Error> {
        stored(&mut self.storing).await?;
        let changes = std::mem::take(&mut self.changes);
        self.task.journal.store(self.task.part.run, &changes).await
    }

    /// Starts writing the outcomes of calls that must not be repeated, if the intents of further calls have not taken them along. If the ledger is
    /// far away, the next intents or the next interval do: a write of their own would hold up the intents.
    pub(super) fn store_finished(&mut self) {
        let is_near = self.dispatcher.lead < STORE_INTERVAL;
        if is_near && self.storing.is_none() && !self.changes.finished.is_empty() {
            self.store_in_background();
        }
    }

    /// Whether outcomes may be written now, because no intents are expected that would take them along.
    pub(super) fn may_store(&self) -> bool {
        let gathers = self.gathers_until.is_some_and(|until| now() < until);
        !gathers && !self.changes.outcomes.is_empty() && self.storing.is_none()
    }

    /// Starts writing all changes to the ledger.
    pub(super) fn store_in_background(&mut self) {
        let (journal, run) = (self.task.journal.clone(), self.task.part.run);
        let changes = std::mem::take(&mut self.changes);
        self.storing = Some(tokio::spawn(async move { journal.store(run, &changes).await }));
    }
}
