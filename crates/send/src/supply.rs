//! Takes permits from the ledger, for a rate shared by processes on several machines.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use sheetport_client::{Permits, Speed, Wanted};
use sheetport_ledger::{self as ledger, Gate, Ledger};

use super::ports::{Journal, Service};
use super::{STORE_INTERVAL, Sender, now};

/// Time before another attempt, if the ledger can't be used. Nothing is sent in the meantime.
const RETRY: Duration = Duration::from_millis(500);

/// The longest time between storing an intent and its request. A pause of the service comes too late for requests that wait so long.
const LONGEST_LEAD: Duration = Duration::from_millis(300);

/// The shared rate of a service and workspace.
pub struct Supply<'a> {
    pub ledger: &'a Ledger,
    pub base_url: &'a str,
    pub workspace: &'a str,
    pub speed: Speed,
    pub permits: &'a Permits,
    /// Maximum number of permits to use at the same time.
    pub most: u32,
}

/// Waits for the end of `work`, and supplies permits meanwhile.
pub async fn while_supplied<T>(supply: Option<Supply<'_>>, work: impl Future<Output = T>) -> T {
    match supply {
        Some(supply) => tokio::select! {
            ended = work => ended,
            never = supply.run() => match never {},
        },
        None => work.await,
    }
}

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Says how many permits can still be used. Others would be lost to the other processes.
    pub(super) fn say_need(&self) {
        let Some(permits) = &self.task.permits else { return };
        let is_all_loaded = self.next_block.is_none() && self.held_back.is_none() && self.chained.is_empty();
        permits.need(is_all_loaded.then(|| self.dispatcher.backlog()));
    }

    /// Notes how long it took to store intents since `began`: as long before their time, permits are taken for the next ones.
    pub(super) fn note_lead(&mut self, began: Instant) {
        let took = now().saturating_duration_since(began);
        let lead = (3 * self.dispatcher.lead + took) / 4;
        self.dispatcher.lead = if self.task.permits.is_some() { lead.min(LONGEST_LEAD) } else { Duration::ZERO };
        let is_far = self.dispatcher.lead >= STORE_INTERVAL;
        self.gathers_until = is_far.then(|| now() + self.dispatcher.lead);
    }
}

impl Supply<'_> {
    /// Supplies permits on demand.
    async fn run(&self) -> Infallible {
        let mut kept: Option<Wanted> = None;
        loop {
            let wanted = match kept.take() {
                Some(wanted) => wanted,
                None => self.permits.wanted().await,
            };
            if let Err(error) = self.supply(wanted).await {
                tracing::warn!(%error, "the shared rate can't be read");
                kept = Some(wanted);
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    async fn supply(&self, wanted: Wanted) -> Result<(), ledger::Error> {
        let Supply { ledger, base_url, workspace, speed, permits, most } = *self;
        let interval = match speed {
            Speed::Fixed(rate) => Some(rate.interval()),
            Speed::Auto(_) => None,
        };
        let mut is_refused = wanted.is_refused;
        if let Some(until) = wanted.close_until {
            ledger.close_gate(base_url, workspace, until.saturating_duration_since(Instant::now())).await?;
        }
        loop {
            let asked = Instant::now();
            let Gate { granted, wait, closed, auto, used, since, version, now } =
                ledger.take_permits(base_url, workspace, interval, permits.most(most)).await?;
            // Permits are late by the duration of the response, and never early.
            let received = Instant::now();
            permits.answered_in(received.saturating_duration_since(asked));
            if let Some((auto, interval)) =
                permits.adjusted(speed, auto.as_deref(), used, since, std::mem::take(&mut is_refused), now)
            {
                ledger.adjust_gate(base_url, workspace, version, &auto, interval).await?;
                if granted.is_none() && version == 0 {
                    continue;
                }
            }
            if !closed.is_zero() {
                permits.closed(received + closed);
                tokio::time::sleep(closed.min(RETRY)).await;
            } else if let Some(granted) = granted {
                permits.add(received + granted.first, granted.interval, granted.count);
                return Ok(());
            } else {
                tokio::time::sleep(wait.clamp(Duration::from_millis(1), RETRY)).await;
            }
        }
    }
}
