//! A worker: sends parts of queued runs planned by other processes, until stopped.

mod at_once;
mod event;
mod health;
mod inbox;
mod lasting;
mod left;
mod part;
mod pruning;
mod set_aside;
mod stop;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use sheetport_client::Client;
use sheetport_client::auth::Credentials;
use sheetport_ledger::{Ledger, Run, RunId};
use sheetport_operations::context::Context;
use sheetport_operations::database_risks;
use sheetport_operations::error::Error;
use sheetport_operations::token_folder::TokenFolder;
use sheetport_send::{Grace, Limit};
use tokio::sync::SetOnce;

use crate::UploadStep;
pub use event::WorkEvent;
use event::WorkObserver;
pub use health::LedgerHealth;
use lasting::is_lasting;
pub use left::{Left, Obstacle, Unsent};
use part::Ended;
use set_aside::{Scope, SetAside, Turn, digest_of};
use stop::Stop;

/// Interval of looking for queued runs.
const POLL: Duration = Duration::from_secs(1);
/// Interval of looking whether a newer version has changed the tables.
const LOOK: Duration = Duration::from_secs(10);
/// Pauses after the ledger can't be used.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));
/// Time for requests in flight when an error ends the worker.
const GRACE: Duration = Duration::from_secs(10);

/// How to work.
#[derive(Debug)]
pub struct Working {
    /// Parts sent at the same time. `None`: as many as the cores of this machine and the connections of the database allow.
    pub at_once: Option<u16>,
    /// Tokens by workspace, besides those of the context.
    pub tokens: Option<TokenFolder>,
    /// Whether to end when there is no queued run left that this worker can send.
    pub until_idle: bool,
    /// The age from which runs are removed.
    pub keep: Option<Duration>,
    /// Files to upload on arrival.
    pub inbox: Option<Box<UploadStep>>,
}

/// Sends parts of queued runs until `interrupt` resolves, to the time allowed for requests in flight. Returns what an idle worker
/// leaves although it should have sent it.
///
/// # Errors
/// If the ledger can't be opened or the inbox can't be read at the beginning. Later, the worker tries again, unless the error of the
/// ledger is lasting, such as missing rights.
pub fn work<'a>(
    context: &'a Context,
    working: Working,
    interrupt: BoxFuture<'a, Grace>,
    observer: WorkObserver<'a>,
) -> LocalBoxFuture<'a, Result<Vec<Left>, Error>> {
    Box::pin(async move {
        let stop = Stop::default();
        let worker = Worker {
            context,
            working: &working,
            stop: &stop,
            observer,
            set_aside: Mutex::default(),
            last_queued: Mutex::default(),
            fatal: SetOnce::new(),
        };
        let mut ledgers = vec![context.ledger().await?];
        let at_once = match working.at_once {
            Some(at_once) => at_once.into(),
            None => at_once::chosen(ledgers[0].connections().await?),
        };
        while ledgers.len() < at_once {
            ledgers.push(context.ledger().await?);
        }
        observer(WorkEvent::Ready);
        if let Some(ledger) = ledgers.first() {
            for risk in database_risks(ledger).await? {
                observer(WorkEvent::Warned { why: &risk.text, hint: risk.remedy.as_deref() });
            }
        }
        let slots = join_all(ledgers.into_iter().map(|ledger| worker.run_slot(ledger)));
        let inbox = async {
            let Some(step) = &working.inbox else { return Vec::new() };
            match inbox::run(context, step, working.until_idle, &stop, observer).await {
                Ok(left) => left,
                Err(error) => {
                    worker.fail(error);
                    Vec::new()
                }
            }
        };
        let work = async {
            let pruning = async {
                if let Some(age) = working.keep {
                    pruning::run(context, age, working.until_idle, &stop, observer).await;
                }
            };
            let (_, files, ()) = tokio::join!(slots, inbox, pruning);
            files
        };
        // Requests in flight get their outcomes in either case.
        let interrupt = async {
            tokio::select! {
                grace = interrupt => grace,
                _ = worker.fatal.wait() => Grace::from(GRACE),
            }
        };
        let files = tokio::select! {
            files = work => files,
            never = stop.pass_on(interrupt) => match never {},
        };
        if let Some(error) = worker.fatal.into_inner() {
            return Err(error);
        }
        // A requested stop leaves the rest on purpose.
        if stop.is_set() {
            return Ok(Vec::new());
        }
        let mut left = lock(&worker.set_aside).take_left(&lock(&worker.last_queued));
        left.extend(files);
        Ok(left)
    })
}

struct Worker<'a> {
    context: &'a Context,
    working: &'a Working,
    stop: &'a Stop,
    observer: WorkObserver<'a>,
    /// Runs that this worker can't send now.
    set_aside: Mutex<SetAside>,
    /// The queued runs when the last slot became idle.
    last_queued: Mutex<Vec<RunId>>,
    /// The first error that ends the worker.
    fatal: SetOnce<Error>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether clients of both contexts have the same tokens and connections.
fn is_same_access(one: &Context, other: &Context) -> bool {
    let of = |context: &Context| (context.profile.clone(), digest_of(&context.credentials), context.connection.clone());
    one.withheld.is_none() && other.withheld.is_none() && of(one) == of(other)
}

fn scope_of(run: &Run) -> Scope {
    (run.about.base_url.clone(), run.about.workspace.clone())
}

/// Sends parts one after another, with a separate connection to the ledger and separate leases.
struct Slot {
    ledger: Ledger,
    /// What the last part was sent with.
    last: Option<Access>,
    /// When the version of the tables was last looked at.
    looked_at: Option<Instant>,
    /// The limit of the speed of a run, as last told.
    told: Option<(RunId, Limit)>,
}

/// What the parts of a run are sent with.
struct Access {
    run: RunId,
    context: Context,
    client: Arc<Client>,
    /// The address and the concurrency of the client.
    made_for: (String, u16),
}

impl Worker<'_> {
    /// Ends the worker with an error, unless another has ended it.
    fn fail(&self, error: Error) {
        let _ = self.fatal.set(error);
    }

    async fn run_slot(&self, ledger: Ledger) {
        let mut slot = Some(Slot { ledger, last: None, looked_at: None, told: None });
        let mut pause = BACKOFF.0;
        while !self.stop.is_set() {
            let did = match &mut slot {
                Some(slot) => self.send_a_part(slot).await,
                None => match self.context.ledger().await {
                    Ok(ledger) => {
                        slot = Some(Slot { ledger, last: None, looked_at: None, told: None });
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
                Err(error) if is_lasting(&error) => {
                    self.fail(error);
                    break;
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
        if slot.looked_at.is_none_or(|at| at.elapsed() >= LOOK) {
            // Between two parts: the tables of a newer version only have more than ours, so the part before was finished.
            slot.ledger.refuse_newer_tables().await?;
            slot.looked_at = Some(Instant::now());
        }
        let queued = slot.ledger.queued().await?;
        for &id in &queued {
            if lock(&self.set_aside).asks_for_scope(id) {
                self.note_scope(&slot.ledger, id).await?;
            }
            let turn = lock(&self.set_aside).turn(id, Instant::now());
            if turn == Turn::Later {
                continue;
            }
            if turn == Turn::IfTokensChanged {
                let run = slot.ledger.run(id).await?;
                let tokens = self.tokens_for(&run);
                if !lock(&self.set_aside).has_new_tokens(id, &tokens, Instant::now()) {
                    continue;
                }
            }
            if slot.last.as_ref().is_none_or(|last| last.run != id) {
                let run = slot.ledger.run_to_take(id).await?;
                match self.access_to(&run, slot.last.as_ref()) {
                    Ok(access) => slot.last = Some(access),
                    Err(obstacle) => {
                        self.set_aside(&slot.ledger, &run, obstacle).await?;
                        continue;
                    }
                }
            }
            let Some(Access { context, client, .. }) = &slot.last else { continue };
            let Some(taken) = slot.ledger.take_part(id, slot.ledger.now()).await? else { continue };
            (self.observer)(WorkEvent::Taken { run: &taken.run, part: taken.part });
            let held_back = || lock(&self.set_aside).held_back(Instant::now());
            let with = part::Sending {
                context,
                ledger: &slot.ledger,
                client,
                stop: self.stop,
                observer: self.observer,
                held_back: &held_back,
            };
            match part::send(with, taken, &mut slot.told).await? {
                Ended::Done => lock(&self.set_aside).remove(id),
                Ended::Later(obstacle) => {
                    // The next attempt may use a new token.
                    slot.last = None;
                    self.set_aside(&slot.ledger, &slot.ledger.run(id).await?, obstacle).await?;
                    // Else the run would not be among those with a free part, and an idle worker would not report it.
                    slot.ledger.parts_given_back().await;
                }
            }
            return Ok(true);
        }
        if self.working.until_idle {
            *lock(&self.last_queued) = queued;
        }
        Ok(false)
    }

    /// Returns what a run is sent with. The client of the last run serves for another with the same tokens: making one takes longer than sending
    /// a few records.
    ///
    /// # Errors
    /// If this worker has no token for the workspace of the run.
    fn access_to(&self, run: &Run, last: Option<&Access>) -> Result<Access, Obstacle> {
        let context = self.context_of(run).map_err(Obstacle::Error)?;
        let (planned, here) = (&run.about.workspace, context.workspace());
        if let Some(folder) = self.working.tokens.as_ref().filter(|_| context.credentials.is_empty()) {
            return Err(Obstacle::NoTokens { planned: planned.clone(), folder: folder.path().to_owned() });
        }
        let made_for = (run.about.base_url.clone(), run.about.settings.concurrency);
        let client = match last.filter(|last| last.made_for == made_for && is_same_access(&last.context, &context)) {
            Some(last) => Ok(Arc::clone(&last.client)),
            None => context.writing_client(&made_for.0, made_for.1),
        };
        let client = client.map_err(Obstacle::Error)?;
        if *planned == here {
            return Ok(Access { run: run.id, context, client, made_for });
        }
        Err(match here.is_empty() {
            true => Obstacle::Error(Error::invalid(
                format!("it is for the workspace '{planned}', and the token here names no workspace"),
                "use a token of that workspace",
            )),
            false => Obstacle::OtherWorkspace { planned: planned.clone(), here },
        })
    }

    /// Returns the context for a run, with the tokens of its workspace.
    fn context_of(&self, run: &Run) -> Result<Context, Error> {
        let of_folder =
            self.working.tokens.as_ref().map(|folder| folder.context_of(self.context, &run.about.workspace));
        of_folder.transpose()?.flatten().as_ref().unwrap_or(self.context).for_run(run)
    }

    /// Returns the tokens for a run. Unreadable tokens count as missing.
    fn tokens_for(&self, run: &Run) -> Credentials {
        self.context_of(run).map(|context| context.credentials).unwrap_or_default()
    }

    /// Holds a run back, and notes it in its history, if a service has refused the same tokens for the same workspace.
    async fn note_scope(&self, ledger: &Ledger, run: RunId) -> Result<(), Error> {
        let run = ledger.run(run).await?;
        let tokens = self.tokens_for(&run);
        let why = lock(&self.set_aside).note_scope(run.id, scope_of(&run), &tokens, Instant::now());
        if let Some(why) = why {
            ledger.note_set_aside(run.id, &why, ledger.now()).await?;
        }
        Ok(())
    }

    /// Sets a run aside. A new obstacle is reported, and noted in the history of the run unless another worker is to send it.
    async fn set_aside(&self, ledger: &Ledger, run: &Run, obstacle: Obstacle) -> Result<(), Error> {
        let tokens = self.tokens_for(run);
        let why = (!obstacle.is_for_others()).then(|| obstacle.to_string());
        let is_new = {
            let mut set_aside = lock(&self.set_aside);
            let is_new = set_aside.is_new(run.id, &obstacle);
            if is_new {
                (self.observer)(WorkEvent::SetAside { run: run.id, why: &obstacle });
            }
            set_aside.add(run.id, scope_of(run), obstacle, &tokens, Instant::now());
            is_new
        };
        if let Some(why) = why.filter(|_| is_new) {
            ledger.note_set_aside(run.id, &why, ledger.now()).await?;
        }
        Ok(())
    }
}
