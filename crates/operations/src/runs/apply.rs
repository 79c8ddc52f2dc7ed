//! `apply`: sends what a person has approved of a plan.
//!
//! The plan in the ledger is what counts. A file of changes can only take records and fields away; whatever else it says is refused before
//! anything is sent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use futures_util::future::BoxFuture;

use sheetport_ledger::{
    self as ledger, Disposition, Ledger, LockedRun, Outcome, PlannedRecord, Problem, RecordState, Run, RunId,
    RunSettings, RunState, Seq,
};
use sheetport_plan::approve::{Approve, ChangesFile, Decided, Mark, Objection, Reason, decide_record, decide_unmarked};
use sheetport_send::Grace;

use super::super::approval::Approval;
use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::{InputFile, check_report_path};
use super::super::results::{Finished, check_has_plan, next_command};
use super::super::send::{SendOptions, Sending};
use super::resume::{Bound, bind, refused};
use crate::operation::LocalOperation;

const APPLIED: &str = "applied";
/// A plan that is older was probably made for another day's service, so a person is asked.
const OLD: i64 = 24 * 60 * 60 * 1_000;

/// What is to be applied.
#[derive(Clone, Copy, Debug)]
pub enum PlanTarget<'a> {
    Run(RunId),
    /// A file of changes.
    File(&'a InputFile),
    /// A plan, with a yes or a no to each of its changes.
    Decided(RunId, &'a [Mark]),
}

/// A plan to apply.
pub struct Apply<'a> {
    pub target: PlanTarget<'a>,
    /// What counts for changes without a yes or a no. `None`: as the others show.
    pub approve: Option<Approve>,
    /// Applies a plan that is older than a day.
    pub accepts_old: bool,
    /// Asks a person about a plan of this age, in hours.
    pub asks_of_old: Option<&'a (dyn Fn(i64) -> bool + Sync)>,
    pub sending: SendOptions<'a>,
}

/// Sends what is approved of a plan, but for records that somebody has changed in the service since.
///
/// # Errors
/// If the file is no file of changes of a plan in this ledger or was edited otherwise than by leaving out, or the plan can't be sent here
/// and now. Nothing is sent then.
pub fn apply<'a>(
    context: &'a Context,
    request: Apply<'a>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(async move {
        let options = request.sending;
        check_report_path(context, options.report).await?;
        let ledger = context.ledger().await?;
        let (run, marks) = match request.target {
            PlanTarget::Run(run) => (ledger.run(run).await?, None),
            PlanTarget::File(file) => {
                let (run, marks) = plan_of(&ledger, file).await?;
                (run, Some(Cow::Owned(marks)))
            }
            PlanTarget::Decided(run, marks) => (ledger.run(run).await?, Some(Cow::Borrowed(marks))),
        };
        check_is_plan(context, &ledger, &run).await?;
        let earlier = &run.about.settings;
        let settings = options.over(earlier);
        let Bound { context, client, run } = bind(&ledger, &run, context, settings.concurrency, APPLIED).await?;
        // Another person may have applied it before the lock was taken.
        check_is_plan(&context, &ledger, run.run()).await?;
        check_age(&context, &ledger, run.run(), &request)?;
        let settings = RunSettings { connection: context.run_connection(), ..settings };
        let approved = approve(&ledger, &run, marks.as_deref(), request.approve).await?;
        let run = ledger.change_settings(run, settings).await?;
        ledger.approve(&run, &approved.left_out, &approved.bodies, approved.counts.approved, ledger.now()).await?;
        let id = run.id();
        let run = ledger.lock_run_with(run.into_lock(), id).await?;
        observer(Event::Approved { run: run.run(), approval: &approved.counts });
        let sending = Sending::unattended(&context, &ledger, Some(client), run, &options, observer);
        let finished = sending.send(interrupt).await?;
        ledger.close().await;
        Ok(finished)
    })
}

/// Gives up a plan of which nothing was sent, so that it is not sent later by habit. Leaves any other run as it is.
///
/// # Errors
/// If the ledger can't be read or written.
pub fn discard_plan(context: &Context, run: RunId) -> LocalOperation<'_, ()> {
    Box::pin(async move {
        let ledger = context.ledger().await?;
        let locked = match ledger.lock_run(run).await {
            Ok(locked) => locked,
            // Somebody is sending it just now, or has removed it.
            Err(ledger::Error::Busy { .. } | ledger::Error::NoSuchRun(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let plan = locked.run();
        let is_open = plan.looked_at.is_some() && plan.state == RunState::Planned;
        if is_open && !ledger.is_begun(run).await? {
            ledger.withhold(run, ledger.now()).await?;
        }
        drop(locked);
        ledger.close().await;
        Ok(())
    })
}

/// Reads a file of changes, and finds its plan.
async fn plan_of(ledger: &Ledger, file: &InputFile) -> Result<(Run, Vec<Mark>), Error> {
    let name = file.name.display();
    let read = ChangesFile::read(&file.path, &file.name)?;
    let ChangesFile { plan, run, marks } = read.map_err(|refused| {
        let message = format!("{name} can't be applied: {refused}");
        Error::BadInput { message, hint: refused.hint().to_owned() }
    })?;
    let unknown = || {
        let message = format!("{name} is of the plan {plan}, which is not in this ledger");
        let hint =
            "apply it where it was planned: with the same --home, or --ledger; or plan the spreadsheet again here";
        Error::BadInput { message, hint: hint.to_owned() }
    };
    match ledger.run(run).await {
        Ok(run) if run.token() == plan => Ok((run, marks)),
        Ok(_) | Err(ledger::Error::NoSuchRun(_)) => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}

/// Refuses runs that are no plan, and plans that were sent or are being sent.
async fn check_is_plan(context: &Context, ledger: &Ledger, run: &Run) -> Result<(), Error> {
    let id = run.id;
    let go_on = || format!("`{}`", next_command::go_on(context, id));
    if run.looked_at.is_none() {
        let hint = match run.state {
            RunState::Planned => format!("{} sends the rest of it", go_on()),
            _ => "plan a spreadsheet first: `sheetport plan FILE`".to_owned(),
        };
        return Err(refused(id, APPLIED, "it is an upload, and no plan", &hint));
    }
    let again = || match next_command::plan_again(context, run) {
        Some(command) => format!("to see what would change now: `{command}`"),
        None => "plan the spreadsheet again to see what would change now".to_owned(),
    };
    match run.state {
        RunState::Finished => return Err(refused(id, APPLIED, "the plan was applied before", &again())),
        RunState::Withheld => return Err(refused(id, APPLIED, "nothing of it was to be sent", &again())),
        RunState::Queued => {
            let hint = format!("to wait for them: `{}`", next_command::wait(context, id));
            return Err(refused(id, APPLIED, "the plan is being sent by workers", &hint));
        }
        RunState::Planning | RunState::Planned => {}
    }
    if ledger.is_begun(id).await? {
        let hint = format!("to send the rest of what was approved: {}", go_on());
        return Err(refused(id, APPLIED, "sending of the plan was begun before", &hint));
    }
    check_has_plan(run, APPLIED)
}

fn check_age(context: &Context, ledger: &Ledger, run: &Run, request: &Apply<'_>) -> Result<(), Error> {
    let age = ledger.now() - run.looked_at.unwrap_or_default();
    if age <= OLD || request.accepts_old {
        return Ok(());
    }
    let hours = age / (60 * 60 * 1_000);
    if request.asks_of_old.is_some_and(|asks| asks(hours)) {
        return Ok(());
    }
    let again = next_command::plan_again(context, run);
    let again =
        again.map_or_else(|| "plan the spreadsheet again".to_owned(), |command| format!("plan again: `{command}`"));
    let hint =
        format!("{again}; --yes applies it all the same, without the records that were changed in the service since");
    Err(refused(run.id, APPLIED, &format!("the plan is {hours} hours old"), &hint))
}

/// The consequences of an approval.
#[derive(Default)]
struct Approvals {
    counts: Approval,
    left_out: Vec<Outcome>,
    /// The requests with fewer fields.
    bodies: BTreeMap<Seq, Box<str>>,
}

/// Decides about each pending record of a plan. Without `marks`, all of them are as `asked`.
async fn approve(
    ledger: &Ledger,
    run: &LockedRun,
    marks: Option<&[Mark]>,
    asked: Option<Approve>,
) -> Result<Approvals, Error> {
    let (id, kind) = (run.id(), run.run().about.record);
    let refuse = |objection: Objection| {
        let message = format!("nothing was sent: {objection}");
        Error::BadInput { message, hint: objection.hint().to_owned() }
    };
    let seen = ledger.seen(id).await?;
    let approves_unmarked = match marks {
        None => asked != Some(Approve::None),
        Some(marks) => {
            let pending = pending(ledger, id).await?;
            let of_pending = marks.iter().filter(|mark| pending.binary_search(&mark.seq).is_ok());
            decide_unmarked(asked, of_pending).map_err(refuse)?
        }
    };
    let mut found = Approvals::default();
    let (mut from, at): (Seq, i64) = (0, ledger.now());
    while let Some(block) = ledger.record_block(id, from).await? {
        from = block.end();
        let settled = ledger.settled(id, block.first..=from - 1).await?;
        for (seq, record) in block.numbered() {
            let of_record = marks.map(|marks| of_record(marks, seq));
            let row = record.rows.first().copied();
            let body = match &record.disposition {
                Disposition::Send(body) if !settled.contains(&seq) => body,
                _ => {
                    let is_wanted = |mark: &Mark| mark.approves == Some(true);
                    if of_record.is_some_and(|marks| marks.iter().any(is_wanted)) {
                        found.counts.ignored.add(row);
                    }
                    continue;
                }
            };
            let decided = match of_record {
                Some(marks) => decide_record(kind, body, seen.get(&seq), marks, approves_unmarked).map_err(refuse)?,
                None if approves_unmarked => Decided::Approved,
                None => Decided::No(Reason::No),
            };
            found.add(seq, record, decided, at);
        }
    }
    Ok(found)
}

impl Approvals {
    fn add(&mut self, seq: Seq, record: &PlannedRecord, decided: Decided, at: i64) {
        let (counts, row) = (&mut self.counts, record.rows.first().copied());
        match decided {
            Decided::Approved => counts.approved += 1,
            Decided::Partly(body, fields) => {
                counts.approved += 1;
                counts.partly += 1;
                counts.fields += fields;
                self.bodies.insert(seq, body);
            }
            Decided::No(reason) => {
                let rows = if reason == Reason::Removed { &mut counts.removed } else { &mut counts.declined };
                rows.add(row);
                let problem = Problem { row, ..reason.problem() };
                self.left_out.push(Outcome { problems: vec![problem], ..Outcome::new(seq, RecordState::Skipped, at) });
            }
        }
    }
}

/// Returns the marks of a record, which are in order.
fn of_record(marks: &[Mark], seq: Seq) -> &[Mark] {
    let first = marks.partition_point(|mark| mark.seq < seq);
    let rest = &marks[first..];
    &rest[..rest.partition_point(|mark| mark.seq == seq)]
}

/// Returns the positions of the pending records, in order.
async fn pending(ledger: &Ledger, run: RunId) -> Result<Vec<Seq>, Error> {
    let (mut pending, mut from) = (Vec::new(), 0);
    while let Some(block) = ledger.records_without_bodies(run, from, 1).await?.filter(|block| block.end() > from) {
        from = block.end();
        let settled = ledger.settled(run, block.first..=from - 1).await?;
        let is_pending = |(seq, record): &(Seq, &PlannedRecord<()>)| {
            matches!(record.disposition, Disposition::Send(())) && !settled.contains(seq)
        };
        pending.extend(block.numbered().filter(is_pending).map(|(seq, _)| seq));
    }
    Ok(pending)
}
