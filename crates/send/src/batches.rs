//! When further records are loaded. Records of a run that looks again are loaded batch by batch, when all before them are settled: requests in
//! flight would change the list that is read.

use sheetport_ledger::{Part, Seq};

use super::Sender;
use super::load::{Looks, load_blocks};
use super::ports::{Journal, Service};

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Whether further records may be loaded now.
    pub(super) fn may_load(&self) -> bool {
        let Some(next) = self.next_block.filter(|_| self.held_back.is_none()) else { return false };
        match &self.looks {
            None => self.dispatcher.backlog() < self.task.low_backlog,
            Some(Looks { until, .. }) => until.is_some_and(|until| next <= until),
        }
    }

    /// Returns the last record that may be loaded.
    pub(super) fn last_to_load(&self) -> Seq {
        let last = self.task.part.last;
        self.looks.as_ref().and_then(|looks| looks.until).map_or(last, |until| until.min(last))
    }

    /// Begins the look at the next batch when no record before it is waiting or in flight. A refusal may still be held back until further records
    /// show whether it concerns them all.
    pub(super) fn begin_look(&mut self) {
        let is_idle = self.held_back.is_none() && self.dispatcher.backlog() == 0 && self.dispatcher.in_flight() == 0;
        let goes_on = self.deadline.is_none() && self.dispatcher.stop_reason().is_none();
        let may_load = self.may_load();
        let Some(next) = self.next_block.filter(|_| is_idle && goes_on && !may_load) else { return };
        if let Some(looks) = &mut self.looks {
            looks.begin(next);
        }
    }

    /// Adds the next blocks of records up to `last` to the dispatcher. An error ends the loading, but not the requests in flight.
    pub(super) async fn load_next_blocks(&mut self, last: Seq) {
        let Some(from) = self.next_block.take() else { return };
        let task = self.task;
        let part = Part { last, ..task.part };
        match load_blocks(&task.journal, &self.run, part, &self.scope, self.newer.as_mut(), from, task.journal.now())
            .await
        {
            Ok(Some(loaded)) => {
                self.next_block = Some(loaded.end).filter(|next| *next <= task.part.last);
                let jobs = loaded.jobs.into_iter().map(|job| self.with_key(job)).collect();
                self.admit(jobs, loaded.intent);
            }
            Ok(None) if last < task.part.last => match task.journal.record_block(part.run, last + 1).await {
                Ok(block) => self.next_block = block.map(|_| last + 1),
                Err(error) => self.load_error = Some(error),
            },
            Ok(None) => {}
            Err(error) => self.load_error = Some(error),
        }
    }
}
