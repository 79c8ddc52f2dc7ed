//! Sending a part of a queued run.

use std::sync::Arc;

use sheetport_client::Client;
use sheetport_ledger::{Ledger, RunId, RunSettings, TakenPart};
use sheetport_operations::command_line::CommandLine;
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;
use sheetport_operations::older_ledger::refuse_older;
use sheetport_operations::send::Records;
use sheetport_send::{Limit, Limits, StopReason, superseded};

use super::event::{WorkEvent, WorkObserver};
use super::left::Obstacle;
use super::stop::Stop;

/// How a part ended.
pub(super) enum Ended {
    /// Finished, released to other workers, or stopped together with its run.
    Done,
    /// Given back. The run is to be tried again later, for this reason.
    Later(Obstacle),
}

/// What a part is sent with.
pub(super) struct Sending<'a> {
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    pub client: &'a Arc<Client>,
    pub stop: &'a Stop,
    pub observer: WorkObserver<'a>,
    /// Returns the runs that this worker can't send now.
    pub held_back: &'a (dyn Fn() -> Vec<RunId> + Sync),
}

/// Sends the pending records of a part, and gives it back. `told`: the run and the limit of its speed that were last told.
///
/// # Errors
/// If the ledger can't be used. The lease of the part ends by itself then.
pub(super) async fn send(
    with: Sending<'_>,
    taken: TakenPart,
    told: &mut Option<(RunId, Limit)>,
) -> Result<Ended, Error> {
    let Sending { context, ledger, client, stop, observer, held_back } = with;
    let (run, part) = (&taken.run, taken.part);
    if run.about.record.input().must_not_repeat() {
        // The database may have been replaced by one that was behind, such as a standby.
        refuse_older(context, ledger, run, &CommandLine::new(context, "work").to_string()).await?;
    }
    superseded::leave_out(ledger, run, part, ledger.now()).await?;
    let records = Records::new(context, ledger, client, run, &|_| {});
    let RunSettings { max_errors, max_unknown, .. } = run.about.settings;
    let (failed, unknown) = match max_errors.or(max_unknown) {
        Some(_) => ledger.failed_in_queue(run).await?,
        None => (0, 0),
    };
    let limits = Limits { max_errors, failed, max_unknown, unknown };
    let rate = records.rate().await?;
    let sent = records.send(part, limits, rate, Box::pin(stop.of_part(ledger, part, held_back)), &|_| {}).await?;
    if let Some(slowness) = sent.slowness.filter(|slowness| *told != Some((run.id, slowness.by))) {
        let why = format!("run {}: {slowness}", run.id);
        observer(WorkEvent::Warned { why: &why, hint: slowness.hint() });
        *told = Some((run.id, slowness.by));
    }
    observer(WorkEvent::Sent { run, part, progress: &sent.progress, millis: sent.millis });
    let id = run.id;
    match sent.stopped {
        None => {
            if ledger.finish_part(taken, sent.millis, ledger.now()).await? {
                observer(WorkEvent::Finished { run: id });
            }
            Ok(Ended::Done)
        }
        Some(StopReason::Interrupted | StopReason::Waits) => Ok(Ended::Done),
        Some(reason) if reason.is_temporary() || Obstacle::is_of_this_worker(&reason) => {
            Ok(Ended::Later(Obstacle::Stopped(reason)))
        }
        Some(reason) => {
            let why = reason.to_string();
            if ledger.stop_queued(id, None, &why, ledger.now()).await? {
                observer(WorkEvent::Stopped { run: id, why: &why });
            }
            Ok(Ended::Done)
        }
    }
}
