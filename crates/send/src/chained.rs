//! Records that wait for other records with the same key in other parts of the run.

use std::time::Instant;

use sheetport_ledger as ledger;

use super::Sender;
use super::ports::{Journal, Service};
use crate::dispatch::Job;

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Passes a loaded record to the dispatcher, or lets it wait for the previous record.
    pub(super) fn push(&mut self, job: Job) {
        match self.chained.has_link(job.seq) {
            true => self.chained.wait(job),
            false => self.dispatcher.push(job),
        }
    }

    /// Passes the records that need not wait any more to the dispatcher.
    pub(super) async fn admit_chained(&mut self, now: Instant) -> Result<(), ledger::Error> {
        let Some(before) = self.chained.look(now) else { return Ok(()) };
        let settled = self.task.journal.settled_among(self.task.part.run, &before).await?;
        let ready = self.chained.ready(&settled.into_iter().collect(), self.task.part.first);
        self.chained.note(!ready.is_empty() || self.dispatcher.in_flight() > 0, now);
        ready.into_iter().for_each(|job| self.dispatcher.push(job));
        Ok(())
    }
}
