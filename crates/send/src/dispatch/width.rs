//! How many requests may be in flight while this machine is short of files or ports for connections.

use std::time::{Duration, Instant};

use sheetport_client::Shortage;

/// Time without a shortage after which more requests are tried. A port is free again a minute after its connection, a file as soon
/// as another program closes it; an attempt in vain costs nothing but itself.
const PATIENCE: Duration = Duration::from_secs(15);
/// Share of the requests in flight that is given up after a shortage, and tried again later: the ledger and reports need files, too.
const RESERVE: usize = 8;

/// The number of requests that may be in flight at once.
#[derive(Debug)]
pub(super) struct Width {
    most: usize,
    now: usize,
    changed_at: Option<Instant>,
    shortage: Option<Shortage>,
}

impl Width {
    /// Permits `most` requests at once.
    pub(super) fn new(most: usize) -> Width {
        Width { most, now: most, changed_at: None, shortage: None }
    }

    /// Returns how many requests may be in flight.
    pub(super) fn at(&mut self, now: Instant) -> usize {
        if self.now < self.most && self.changed_at.is_some_and(|at| now >= at + PATIENCE) {
            self.now = (self.now + (self.now / RESERVE).max(1)).min(self.most);
            self.changed_at = Some(now);
        }
        self.now
    }

    /// Permits fewer requests after a shortage with `others` in flight.
    pub(super) fn narrow(&mut self, shortage: Shortage, others: usize, now: Instant) {
        self.now = (others - others / RESERVE).clamp(1, self.now);
        self.changed_at = Some(now);
        self.shortage = Some(shortage);
    }

    /// Returns the last shortage and the number of requests permitted since.
    pub(super) fn shortage(&self) -> Option<(Shortage, usize)> {
        self.shortage.map(|shortage| (shortage, self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_leaves_fewer_requests_at_once_and_more_are_tried_later() {
        let began = Instant::now();
        let mut width = Width::new(64);
        assert_eq!((width.at(began), width.shortage()), (64, None));
        for others in (30..64).rev() {
            width.narrow(Shortage::OpenFiles, others, began);
        }
        assert_eq!(width.shortage(), Some((Shortage::OpenFiles, 27)));
        assert_eq!(width.at(began + PATIENCE - Duration::from_millis(1)), 27);
        assert_eq!([1, 2, 3].map(|times| width.at(began + PATIENCE * times)), [30, 33, 37]);
        assert_eq!((4..20).map(|times| width.at(began + PATIENCE * times)).last(), Some(64));
        width.narrow(Shortage::Ports, 1, began);
        assert_eq!(width.at(began), 1, "never none");
    }
}
