//! Planning a run, and sending a locked run with accounting and report.

use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use futures_util::future::BoxFuture;

use sheetport_client::{Client, Speed};
use sheetport_ledger::{Ledger, LockedRun, NewRun, Part, Run, RunCommand, RunSettings, RunState, UploadLock};
use sheetport_mapping::Template;
use sheetport_plan::compare::{Connection, server_diff};
use sheetport_plan::sent_before::{self, AsksOfEdited, Compared, LeftOut};
use sheetport_plan::{self as plan, Source, Tally, unanswered};
use sheetport_send as send;
use sheetport_send::{Grace, Limits, Look, SendResult, superseded};
use sheetport_telemetry::{SentRecords, Span};

use super::context::Context;
use super::count_stocks::{counts, refuse_uncounted};
use super::error::Error;
use super::event::{Event, Observer};
use super::files::lasting;
use super::learned::{load_sizes, store_learned_sizes};
use super::look_again::LookAgain;
use super::older_ledger::refuse_older;
use super::rate::{run_rate, speed};
use super::results::{Ending, Finished, How, Withheld, is_rehearsal, next_command};
use crate::operation::{LocalOperation, Operation};

/// Requests in flight at the same time, unless another number is asked for.
pub const DEFAULT_CONCURRENCY: u16 = 8;

/// Options for sending a run. `None` uses the setting of the resumed or retried run, or the default for a new run.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendOptions<'a> {
    /// Requests in flight at the same time.
    pub concurrency: Option<u16>,
    pub rate: Option<Speed>,
    /// Stops the run after more refused and unknown records than this.
    pub max_errors: Option<u64>,
    /// Stops the run after more unknown records than this.
    pub max_unknown: Option<u64>,
    /// Of the queued runs of a workspace, those with a higher number are sent first.
    pub priority: Option<i16>,
    /// Sends records even if a newer upload has sent their keys.
    pub overwrites_newer: bool,
    /// Leaves the records to workers.
    pub is_to_queue: bool,
    /// Path of the report. Without a path, a workbook is written next to the file if a row has a problem.
    pub report: Option<&'a Path>,
    /// Hides data in the report that a supplier should not see.
    pub for_supplier: Option<bool>,
}

impl SendOptions<'_> {
    /// Returns the settings of a new run.
    pub(super) fn settings(&self, context: &Context) -> RunSettings {
        let usual = RunSettings {
            profile: context.profile.clone(),
            rate: context.base_url.as_deref().and_then(|url| context.speed(None, url)).map(run_rate),
            concurrency: DEFAULT_CONCURRENCY,
            connection: context.run_connection(),
            ..RunSettings::default()
        };
        self.over(&usual)
    }

    /// Returns the settings of a resumed or retried run: the settings of `run`, overridden by these options.
    pub(super) fn over(&self, run: &RunSettings) -> RunSettings {
        let report = self.report.map(lasting);
        RunSettings {
            rate: self.rate.map(run_rate).or(run.rate),
            concurrency: self.concurrency.unwrap_or(run.concurrency),
            max_errors: self.max_errors.or(run.max_errors),
            max_unknown: self.max_unknown.or(run.max_unknown),
            priority: self.priority.unwrap_or(run.priority),
            report: report.or_else(|| run.report.clone()),
            for_supplier: self.for_supplier.unwrap_or(run.for_supplier),
            // Never inherited: applies to this operation only.
            overwrite_newer: self.overwrites_newer,
            ..run.clone()
        }
    }
}

/// A planned run, ready to be sent.
pub(super) struct Sending<'a> {
    /// The context of the run.
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    /// `None` if the records are left to workers, without a request of this process.
    pub client: Option<Arc<Client>>,
    pub run: LockedRun,
    /// The report path given for this operation.
    pub report: Option<&'a Path>,
    /// Whether a person who has seen the warnings wants the file to be sent; `None` if nobody was asked.
    pub answer: Option<bool>,
    /// Leaves the pending records to workers.
    pub is_to_queue: bool,
    /// `None` if nobody can be asked: edited records are held back.
    pub asks_of_edited: Option<AsksOfEdited<'a>>,
    pub observer: Observer<'a>,
}

impl<'a> Sending<'a> {
    /// Creates the sending of a run about which nobody is asked.
    pub(super) fn unattended(
        context: &'a Context,
        ledger: &'a Ledger,
        client: Option<Arc<Client>>,
        run: LockedRun,
        options: &SendOptions<'a>,
        observer: Observer<'a>,
    ) -> Sending<'a> {
        let (report, is_to_queue) = (options.report, options.is_to_queue);
        Sending { context, ledger, client, run, report, answer: None, is_to_queue, asks_of_edited: None, observer }
    }
}

/// Plans the run described by `about` and returns the locked run.
pub(super) async fn plan_run(
    ledger: &Ledger,
    about: &NewRun,
    lock: UploadLock,
    source: Source,
    template: Arc<Template>,
    observer: Observer<'_>,
) -> Result<(LockedRun, Tally), Error> {
    observer(Event::Opened { source: &source, template: &template });
    let show = |rows| observer(Event::Reading { rows });
    // A retry contains only a part of a file, which says little about the whole file.
    let history = (about.command == RunCommand::Upload).then_some(ledger);
    let span = Span::planning();
    let planning = plan::plan::plan(ledger, history, about, Arc::new(source), template, ledger.now(), &show);
    let (run, tally) = span.within(Box::pin(planning)).await.inspect_err(|_| span.failed())?;
    span.planned(tally.rows, tally.to_send);
    observer(Event::Checked(&tally));
    Ok((ledger.lock_run_with(lock, run).await?, tally))
}

/// A run whose records are sent by one or several processes.
pub struct Records<'a> {
    look: LookAgain<'a>,
}

impl<'a> Records<'a> {
    pub fn new(
        context: &'a Context,
        ledger: &'a Ledger,
        client: &'a Arc<Client>,
        run: &'a Run,
        observer: Observer<'a>,
    ) -> Records<'a> {
        Records { look: LookAgain::new(context, ledger, client, run, observer) }
    }

    /// Returns the rate of the run. An automatic rate starts with the rate learned by earlier runs.
    pub fn rate(&self) -> Operation<'_, Option<Speed>> {
        Box::pin(async move {
            let LookAgain { context, ledger, run, .. } = self.look;
            let about = &run.about;
            Ok(match speed(&about.settings, context)? {
                Some(Speed::Auto(_)) => {
                    Some(Speed::Auto(ledger.learned_rate(&about.base_url, &about.workspace).await?))
                }
                rate => rate,
            })
        })
    }

    /// Sends the pending records of a part. Only this process may send the part.
    pub fn send<'s>(
        &'s self,
        part: Part,
        limits: Limits,
        rate: Option<Speed>,
        interrupt: BoxFuture<'s, Grace>,
        progress: &'s (dyn Fn(&sheetport_send::Progress) + Sync),
    ) -> LocalOperation<'s, SendResult> {
        Box::pin(async move {
            let LookAgain { context, ledger, client, run, observer, .. } = self.look;
            let about = &run.about;
            let (base_url, workspace) = (&about.base_url, &about.workspace);
            let work = sheetport_send::Work {
                ledger,
                client: Arc::clone(client),
                part,
                kind: about.record,
                concurrency: usize::from(about.settings.concurrency),
                rate,
                shares_rate_of: Some((base_url, workspace)),
                limits,
                policy: (&about.settings).into(),
                keys: context.idempotency_keys(run),
            };
            let span = Span::sending(&SentRecords {
                run: run.id,
                part: (part != Part::whole(part.run)).then_some((part.first, part.last)),
                kind: about.record.name(),
                template: &about.template,
                workspace,
                base_url,
            });
            let look = |first| self.look.batch(first, part.last);
            let look = self.look.is_needed().then_some(&look as &Look<'_>);
            let sending = send::send(&work, look, interrupt, progress);
            let ended = tokio::select! {
                ended = span.within(Box::pin(sending)) => ended.inspect_err(|_| span.failed())?,
                never = tell_of_waits(ledger, observer) => match never {},
            };
            self.look.tell();
            span.sent(&ended.progress.totals(), ended.stopped.is_some());
            if let Some(rate) = ended.learned_rate {
                ledger.store_rate(base_url, workspace, rate, ledger.now()).await?;
            }
            Ok(ended)
        })
    }
}

/// Says when sending waits because another program holds the ledger, and when it goes on. Never returns.
async fn tell_of_waits(ledger: &Ledger, observer: Observer<'_>) -> Infallible {
    let mut held_by = None;
    loop {
        held_by = ledger.next_wait(&held_by).await;
        match held_by.as_deref() {
            Some("") => observer(Event::Warning(
                "another program holds the ledger: nothing more is sent until it is free, and no answer is lost meanwhile",
            )),
            Some(holder) => observer(Event::Warning(&format!(
                "another program holds the ledger ({holder}): nothing more is sent until it is free, and no answer is lost meanwhile"
            ))),
            None => observer(Event::Note("the ledger is free again, and sending goes on")),
        }
    }
}

impl Sending<'_> {
    fn settings(&self) -> &RunSettings {
        &self.run.run().about.settings
    }

    /// Returns whether the ledger is temporary, so that the run can't be continued.
    fn is_rehearsal(&self) -> bool {
        is_rehearsal(self.run.run())
    }

    /// Returns why nothing is to be sent.
    async fn withheld(&self) -> Result<Option<Withheld>, Error> {
        let (settings, warnings) = (self.settings(), &self.run.run().warnings);
        let is_asked = self.answer.is_none() && unanswered(warnings, &settings.accept).next().is_some();
        Ok(if settings.strict && !warnings.is_empty() {
            Some(Withheld::Warnings)
        } else if self.answer == Some(false) {
            Some(Withheld::Declined)
        } else if settings.all_or_nothing && self.ledger.accounting(self.run.id()).await?.rejected > 0 {
            Some(Withheld::RowsNeedFixing)
        } else if is_asked && self.ledger.accounting(self.run.id()).await?.requests == 0 {
            // A run that is continued was sent by an earlier version, which did not ask.
            Some(Withheld::Questions)
        } else {
            None
        })
    }

    /// Skips records sent before, and sends the other pending records. Then writes the report if needed.
    ///
    /// # Errors
    /// [`Error::InRun`] with the counts so far.
    pub(super) async fn send(self, interrupt: BoxFuture<'_, Grace>) -> Result<Finished, Error> {
        let (ledger, run) = (self.ledger, self.run.id());
        let next = next_command::go_on(self.context, run);
        let next = Some(next).filter(|_| !self.is_rehearsal());
        match self.try_send(interrupt).await {
            Ok(finished) => Ok(finished),
            // If the ledger is unreadable as well, the first error is more important.
            Err(error) => {
                let accounting = ledger.accounting_in_doubt(run).await.ok().map(Box::new);
                Err(Error::InRun { run, accounting, next, error: Box::new(error) })
            }
        }
    }

    async fn try_send(self, interrupt: BoxFuture<'_, Grace>) -> Result<Finished, Error> {
        let (ledger, id) = (self.ledger, self.run.id());
        let requests_before = ledger.accounting(id).await?.requests;
        let mut compared = Compared::default();
        let client = self.client.as_ref();
        let records = client.map(|client| Records::new(self.context, ledger, client, self.run.run(), self.observer));
        if self.withheld().await?.is_none() {
            compared = self.leave_out_sent().await?;
            match &records {
                Some(Records { look }) => {
                    look.count_stocks().await?;
                    look.before_sending(self.is_to_queue).await?;
                    look.keep_before_images().await?;
                }
                None => refuse_uncounted(self.context, ledger, self.run.run()).await?,
            }
        }
        let mut superseded = Vec::new();
        if self.withheld().await?.is_none() {
            superseded = superseded::leave_out(ledger, self.run.run(), Part::whole(id), ledger.now()).await?;
            self.show_superseded(&superseded);
        }
        let withheld = self.withheld().await?;
        let before = ledger.accounting(id).await?;
        if withheld.is_none() && before.pending > 0 && self.run.run().about.record.input().must_not_repeat() {
            let go_on = next_command::go_on(self.context, id);
            refuse_older(self.context, ledger, self.run.run(), &go_on).await?;
        }
        let was_finished = before.pending == 0 && self.run.run().state == RunState::Finished;
        let (mut stopped, mut meanwhile) = (None, Vec::new());
        let is_queued = self.is_to_queue && withheld.is_none() && before.pending > 0;
        let ending = Ending {
            context: self.context,
            ledger,
            report: self.report,
            is_of_others: false,
            observer: self.observer,
            told: Once::new(),
        };
        if withheld.is_none() && before.pending > 0 && !is_queued {
            ending.check_report(self.run.run()).await?;
        }
        if withheld.is_some() || before.pending == 0 || is_queued {
            ledger.leave_sender(Part::whole(id)).await?;
        }
        if withheld.is_some() {
            ledger.withhold(id, ledger.now()).await?;
        } else if is_queued {
            ledger.enqueue(&self.run, ledger.now()).await?;
        } else if before.pending > 0 {
            let records = records.as_ref().expect("only queued runs have no client");
            let ended = self.send_pending(records, before.pending, interrupt).await?;
            self.show_superseded(&ended.superseded);
            (stopped, meanwhile) = (ended.stopped, ended.superseded);
        } else if !was_finished {
            ledger.end_sending(id, 0, None, 0, ledger.now()).await?;
        }
        let how = How {
            withheld,
            stopped,
            was_finished,
            is_queued,
            left_out: compared.left_out,
            superseded,
            in_doubt: compared.in_doubt,
            ..How::default()
        };
        let mut finished = ending.finish(id, how).await?;
        let requests = finished.accounting.requests.saturating_sub(requests_before);
        finished.superseded = superseded::joined(finished.superseded, meanwhile);
        finished.other_requests = self.client.as_ref().map_or(0, |client| client.requests()).saturating_sub(requests);
        // With a report, the plan must stay: the report may be uploaded or retried.
        // A count that was right is known again, too.
        if matches!(finished.report, Ok(None))
            && !self.is_rehearsal()
            && !is_queued
            && !counts(ledger, &finished.run).await?
        {
            ledger.drop_unsent_plan(id).await?;
        }
        Ok(finished)
    }

    /// Settles the records that need not or must not be sent: unchanged ones if asked for, and those sent before.
    pub(super) async fn leave_out_sent(&self) -> Result<Compared, Error> {
        if self.settings().changed_only {
            self.skip_unchanged().await?;
        }
        let (run, allowed) = (self.run.run(), &self.settings().allow_repeat);
        let compared = sent_before::compare(self.ledger, run, allowed, self.asks_of_edited, self.ledger.now()).await?;
        // What was taken back before is told with the rest of an undo, and no flag sends it again.
        if run.about.undo_of.is_none() {
            (self.observer)(Event::Compared { compared: &compared, kind: run.about.record });
        }
        Ok(compared)
    }

    fn show_superseded(&self, by: &[LeftOut]) {
        if !by.is_empty() {
            let anyway = match self.run.run().about.undo_of {
                Some(undone) => next_command::undo(self.context, undone),
                None => next_command::overwrite_newer(self.context, self.run.id()),
            };
            (self.observer)(Event::Superseded { by, kind: self.run.run().about.record, anyway: &anyway });
        }
    }

    /// Marks records already in the service as unchanged. All records are sent if the service's can't be read.
    async fn skip_unchanged(&self) -> Result<(), Error> {
        let (ledger, run) = (self.ledger, self.run.run());
        ledger.mark_unchanged(run, ledger.now()).await?;
        let rate = speed(self.settings(), self.context)?;
        let Some(client) = &self.client else { return Ok(()) };
        let connection = Connection::new(client, rate, self.settings().concurrency);
        load_sizes(self.context, &connection, &run.about.base_url).await;
        let compared = server_diff::mark_unchanged(ledger, run, run.about.record, &connection, ledger.now()).await?;
        store_learned_sizes(self.context, &connection, &run.about.base_url).await;
        if let Some(error) = compared.failed {
            let message =
                format!("the service's records can't be read, so every one that may have changed is sent: {error}");
            (self.observer)(Event::Warning(&message));
        }
        Ok(())
    }

    async fn send_pending(
        &self,
        records: &Records<'_>,
        pending: u64,
        interrupt: BoxFuture<'_, Grace>,
    ) -> Result<SendResult, Error> {
        let run = self.run.run();
        let rate = records.rate().await?;
        self.ledger.note_sending(run.id, self.ledger.now()).await?;
        (self.observer)(Event::Sending { pending, rate });
        let RunSettings { max_errors, max_unknown, .. } = run.about.settings;
        let limits = Limits { max_errors, max_unknown, ..Limits::default() };
        let is_told = AtomicBool::new(false);
        let show = |progress: &sheetport_send::Progress| {
            if let Some((shortage, most)) = progress.shortage
                && !is_told.swap(true, Ordering::Relaxed)
            {
                let hint = shortage.hint();
                let message = format!("{shortage}, so no more than {most} requests are sent at once: {hint}");
                (self.observer)(Event::Warning(&message));
            }
            (self.observer)(Event::Sent { progress, pending });
        };
        let ended = records.send(Part::whole(run.id), limits, rate, interrupt, &show).await?;
        let (ledger, id) = (self.ledger, self.run.id());
        let left = ledger.again(|| ledger.accounting(id)).await?.pending;
        (self.observer)(Event::SendingEnded { done: pending.saturating_sub(left) });
        let why = ended.stopped.as_ref().map(ToString::to_string);
        let (millis, now) = (ended.millis, ledger.now());
        ledger.again(|| ledger.end_sending(id, left, why.as_deref(), millis, now)).await?;
        Ok(ended)
    }
}
