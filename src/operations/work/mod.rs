//! A worker: sends parts of queued runs planned by other processes, until stopped.

mod event;
mod health;
mod inbox;
mod part;
mod stop;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::context::{Context, now};
use super::error::Error;
use super::jobs::UploadStep;
use crate::client::Client;
use crate::ledger::{Ledger, Run, RunId};
use crate::upload::Grace;
pub use event::WorkEvent;
use event::WorkObserver;
pub use health::LedgerHealth;
use part::Ended;
use stop::Stop;

/// Interval of looking for queued runs.
const POLL: Duration = Duration::from_secs(1);
/// Pauses after the ledger can't be used.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));
/// Time after which a worker tries a set-aside run again.
const SET_ASIDE: Duration = Duration::from_secs(30);

/// How to work.
#[derive(Debug)]
pub struct Working {
    /// Parts sent at the same time.
    pub at_once: u16,
    /// Whether to end when there is no queued run left that this worker can send.
    pub until_idle: bool,
    /// Files to upload on arrival.
    pub inbox: Option<Box<UploadStep>>,
}

/// Sends parts of queued runs until `interrupt` resolves, to the time allowed for requests in flight.
///
/// # Errors
/// If the ledger can't be opened or the inbox can't be read at the beginning. Later, the worker tries again.
pub async fn work(
    context: &Context,
    working: Working,
    interrupt: impl Future<Output = Grace>,
    observer: WorkObserver<'_>,
) -> Result<(), Error> {
    let stop = Stop::default();
    let worker = Worker { context, working: &working, stop: &stop, observer, set_aside: Mutex::default() };
    let mut ledgers = Vec::new();
    for _ in 0..working.at_once {
        ledgers.push(context.ledger().await?);
    }
    observer(WorkEvent::Ready);
    let slots = join_all(ledgers.into_iter().map(|ledger| worker.run_slot(ledger)));
    let inbox = async {
        match &working.inbox {
            Some(step) => inbox::run(context, step, working.until_idle, &stop, observer).await,
            None => Ok(()),
        }
    };
    let work = async {
        // A failing inbox ends the worker.
        let (_, received) = tokio::try_join!(async { Ok(slots.await) }, inbox)?;
        Ok(received)
    };
    tokio::select! {
        ended = work => ended,
        never = stop.pass_on(interrupt) => match never {},
    }
}

struct Worker<'a> {
    context: &'a Context,
    working: &'a Working,
    stop: &'a Stop,
    observer: WorkObserver<'a>,
    /// Runs that this worker can't send now, each with the time of the next attempt.
    set_aside: Mutex<HashMap<RunId, Instant>>,
}

/// Sends parts one after another, with a separate connection to the ledger and separate leases.
struct Slot {
    ledger: Ledger,
    /// The client for the run of the last part.
    client: Option<(RunId, Context, Arc<Client>)>,
}

impl Worker<'_> {
    async fn run_slot(&self, ledger: Ledger) {
        let mut slot = Some(Slot { ledger, client: None });
        let mut pause = BACKOFF.0;
        while !self.stop.is_set() {
            let did = match &mut slot {
                Some(slot) => self.send_a_part(slot).await,
                None => match self.context.ledger().await {
                    Ok(ledger) => {
                        slot = Some(Slot { ledger, client: None });
                        (self.observer)(WorkEvent::Ready);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            match did {
                Ok(true) => pause = BACKOFF.0,
                Ok(false) if self.working.until_idle => break,
                Ok(false) => {
                    pause = BACKOFF.0;
                    self.stop.sleep(POLL.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
                }
                Err(error) => {
                    (self.observer)(WorkEvent::Lost { why: &error.to_string() });
                    slot = None;
                    self.stop.sleep(pause).await;
                    pause = (pause * 2).min(BACKOFF.1);
                }
            }
        }
        if let Some(slot) = slot {
            slot.ledger.close().await;
        }
    }

    /// Sends a part of a queued run. Returns false if there is no part to send.
    async fn send_a_part(&self, slot: &mut Slot) -> Result<bool, Error> {
        for id in slot.ledger.queued().await? {
            if self.is_set_aside(id) {
                continue;
            }
            if slot.client.as_ref().is_none_or(|(run, ..)| *run != id) {
                let run = slot.ledger.run(id).await?;
                match self.client_for(&run) {
                    Ok((context, client)) => slot.client = Some((id, context, client)),
                    Err(error) => {
                        self.set_aside(id, &error.to_string());
                        continue;
                    }
                }
            }
            let Some((_, context, client)) = &slot.client else { continue };
            let Some(taken) = slot.ledger.take_part(id, now()).await? else { continue };
            (self.observer)(WorkEvent::Taken { run: &taken.run, part: taken.part });
            match part::send(context, &slot.ledger, client, taken, self.stop, self.observer).await? {
                Ended::Done => {}
                Ended::Later(why) => {
                    self.set_aside(id, &why);
                    // The next attempt may use a new token.
                    slot.client = None;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the context and the client for sending a run.
    ///
    /// # Errors
    /// If this worker has no token for the workspace of the run.
    fn client_for(&self, run: &Run) -> Result<(Context, Arc<Client>), Error> {
        let context = self.context.for_run(run)?;
        let (planned, workspace) = (&run.about.workspace, context.workspace());
        let client = context.writing_client(&run.about.base_url, run.about.settings.concurrency)?;
        if *planned != workspace {
            let reason = format!("it is for the workspace '{planned}', and the token here is for '{workspace}'");
            return Err(Error::invalid(reason, "use a token of that workspace"));
        }
        Ok((context, client))
    }

    fn is_set_aside(&self, run: RunId) -> bool {
        let mut set_aside = self.set_aside.lock().unwrap_or_else(PoisonError::into_inner);
        set_aside.retain(|_, until| Instant::now() < *until);
        set_aside.contains_key(&run)
    }

    fn set_aside(&self, run: RunId, why: &str) {
        (self.observer)(WorkEvent::SetAside { run, why });
        let mut set_aside = self.set_aside.lock().unwrap_or_else(PoisonError::into_inner);
        set_aside.insert(run, Instant::now() + SET_ASIDE);
    }
}
