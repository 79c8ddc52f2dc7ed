//! Retrying the refused records of a run as a new run.

use futures_util::future::BoxFuture;

use sheetport_ledger::{Family, Ledger, LockedRun, Run, RunId, RunSettings, RunState, Seq};
use sheetport_send::Grace;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::check_report_path;
use super::super::results::{Finished, next_command};
use super::super::send::{SendOptions, Sending};
use super::resume::{Bound, bind, refused};
use crate::operation::LocalOperation;

pub(crate) const RETRIED: &str = "retried";

/// Sends the refused records of `run` again, unchanged, as a new run.
pub fn retry_run<'a>(
    context: &'a Context,
    run: RunId,
    options: SendOptions<'a>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(async move {
        check_report_path(context, options.report).await?;
        let ledger = context.ledger().await?;
        let run = ledger.run(run).await?;
        refuse_undo(context, &run)?;
        let settings = options.over(&run.about.settings);
        let Bound { context, client, run: locked } =
            bind(&ledger, &run, context, settings.concurrency, RETRIED).await?;
        let settings = RunSettings { connection: context.run_connection(), ..settings };
        let failed = refused_records(&context, &ledger, &locked, options.overwrites_newer).await?;
        let again = ledger.plan_retry(&run, settings, &failed, ledger.now()).await?;
        let locked = ledger.lock_run_with(locked.into_lock(), again).await?;
        observer(Event::Retrying { run: locked.run(), of: &run, records: failed.len() as u64 });
        let sending = Sending::unattended(&context, &ledger, Some(client), locked, &options, observer);
        let finished = sending.send(interrupt).await?;
        ledger.close().await;
        Ok(finished)
    })
}

/// Refuses to retry a run that takes another one back: its requests do not follow from the rows of the file.
pub(crate) fn refuse_undo(context: &Context, run: &Run) -> Result<(), Error> {
    let Some(undone) = run.about.undo_of else { return Ok(()) };
    let hint = format!("to take back what is left: `{}`", next_command::undo(context, undone));
    Err(refused(run.id, RETRIED, &format!("it takes run {undone} back"), &hint))
}

/// Returns the refused records of a run, except records sent since by other runs. `overwrites_newer` adds records skipped because
/// of newer runs.
async fn refused_records(
    context: &Context,
    ledger: &Ledger,
    locked: &LockedRun,
    overwrites_newer: bool,
) -> Result<Vec<Seq>, Error> {
    let run = locked.id();
    let is_once = locked.run().about.record.input().must_not_repeat();
    // If two runs held the same record, both could send the record.
    if let Some(later) = ledger.retried_by(run).await? {
        let hint = format!("to retry what was refused there: `{}`", next_command::retry_run(context, later));
        return Err(refused(run, RETRIED, &format!("run {later} already did that"), &hint));
    }
    let family = ledger.family(locked.run()).await?;
    check_nothing_pending(context, ledger, run, &family).await?;
    let accounting = ledger.accounting(run).await?;
    let failed = ledger.still_failed(locked.run(), &family, is_once, overwrites_newer).await?;
    if accounting.failed == 0 && failed.is_empty() {
        let hint = match accounting.unknown {
            0 => "fix rows that are wrong in the sheet in its report: `sheetport retry REPORT`".to_owned(),
            _ => format!(
                "first say what happened to the records with an unknown outcome: `{}`",
                next_command::go_on(context, run)
            ),
        };
        return Err(refused(run, RETRIED, "the service refused none of its records", &hint));
    }
    if failed.is_empty() {
        let reason = "other runs have since sent every record that was refused";
        return Err(refused(run, RETRIED, reason, "`sheetport runs` lists them"));
    }
    Ok(failed)
}

/// Fails while a run of the family has pending records, because both runs could send the same records.
pub(crate) async fn check_nothing_pending(
    context: &Context,
    ledger: &Ledger,
    run: RunId,
    family: &Family,
) -> Result<(), Error> {
    let can_be_resumed = |state| matches!(state, RunState::Planned | RunState::Queued | RunState::Finished);
    for member in family.runs.iter().filter(|member| can_be_resumed(member.state)) {
        let pending = ledger.accounting(member.id).await?.pending;
        if pending > 0 {
            let records = if pending == 1 { "1 record".to_owned() } else { format!("{pending} records") };
            let verb = if pending == 1 { "is" } else { "are" };
            let of = match member.id == run {
                true => "it".to_owned(),
                false => format!("run {}, which belongs to the same upload,", member.id),
            };
            let reason = format!("{records} of {of} {verb} not sent yet");
            let hint = format!("first run `{}`", next_command::go_on(context, member.id));
            return Err(refused(run, RETRIED, &reason, &hint));
        }
    }
    Ok(())
}
