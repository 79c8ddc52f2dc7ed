//! Records with the same key in several parts of a run, sent by different workers: each record waits for the previous record.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sheetport_ledger::Seq;

use crate::dispatch::Job;

/// Interval of looking whether the records before have an outcome.
const INTERVAL: Duration = Duration::from_millis(200);
/// Maximum wait of a worker with nothing else to send. The worker then releases its part: the previous record may be in a part
/// without a worker.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The records of a part that follow another record with the same key.
#[derive(Debug)]
pub(super) struct Chained {
    /// The previous record of each.
    links: BTreeMap<Seq, Seq>,
    /// Loaded records that wait.
    waiting: BTreeMap<Seq, Job>,
    next_look: Option<Instant>,
    /// Since when nothing has changed.
    since: Option<Instant>,
}

impl Chained {
    pub(super) fn new(links: BTreeMap<Seq, Seq>) -> Chained {
        Chained { links, waiting: BTreeMap::new(), next_look: None, since: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether no record waits, or the remaining records have waited too long.
    pub(super) fn is_empty_or_late(&self, now: Instant) -> bool {
        self.is_empty() || self.since.is_some_and(|since| now >= since + LONGEST_WAIT)
    }

    pub(super) fn has_link(&self, seq: Seq) -> bool {
        self.links.contains_key(&seq)
    }

    /// Adds a waiting record.
    pub(super) fn wait(&mut self, job: Job) {
        self.waiting.insert(job.seq, job);
    }

    /// Returns the records to wait for, if it is time to check them.
    pub(super) fn look(&mut self, now: Instant) -> Option<Vec<Seq>> {
        if self.is_empty() || self.next_look.is_some_and(|look| now < look) {
            return None;
        }
        self.next_look = Some(now + INTERVAL);
        Some(self.waiting.keys().filter_map(|seq| self.links.get(seq)).copied().collect())
    }

    /// Notes whether anything has happened since the last look.
    pub(super) fn note(&mut self, is_busy: bool, now: Instant) {
        self.since = match is_busy {
            true => None,
            false => self.since.or(Some(now)),
        };
    }

    /// Returns the records whose predecessors have an outcome or were passed to the dispatcher.
    pub(super) fn ready(&mut self, settled: &BTreeSet<Seq>, first: Seq) -> Vec<Job> {
        let mut ready = Vec::new();
        for seq in self.waiting.keys().copied().collect::<Vec<_>>() {
            let after = self.links.get(&seq).copied();
            // Within the part, the dispatcher keeps the order.
            let is_next = after
                .is_none_or(|after| settled.contains(&after) || after >= first && !self.waiting.contains_key(&after));
            if is_next {
                ready.extend(self.waiting.remove(&seq));
            }
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use sheetport_records::RecordKind;

    use super::*;

    fn job(seq: Seq) -> Job {
        Job::new(RecordKind::Item, seq, Some("A"), None, Vec::new())
    }

    #[test]
    fn records_wait_for_other_parts_and_not_for_their_own() {
        let mut chained = Chained::new(BTreeMap::from([(100, 7), (110, 100), (120, 8)]));
        for seq in [100, 110, 120] {
            chained.wait(job(seq));
        }
        assert!(chained.ready(&BTreeSet::new(), 64).is_empty());
        let ready = chained.ready(&BTreeSet::from([7]), 64);
        assert_eq!(ready.iter().map(|job| job.seq).collect::<Vec<_>>(), [100, 110]);
        assert!(!chained.is_empty());
        assert_eq!(chained.ready(&BTreeSet::from([8]), 64).len(), 1);
        assert!(chained.is_empty());
    }
}
