//! `retry`: sends what a run could not, as a run of its own: the failed records of a run, or a report handed back.

use std::sync::Arc;

use super::resume::{Bound, bind};
use super::sending::{self, Sending};
use super::{now, reporting, retry_report};
use crate::cli::{Retried, Retry};
use crate::error::{Exit, Failure};
use crate::ledger::{Family, Ledger, RunId, RunState};
use crate::settings::Settings;
use crate::ui;

pub async fn run(args: &Retry, settings: &Settings) -> Result<Exit, Failure> {
    if let Some(report) = &args.report {
        reporting::check_report(report)?;
    }
    match args.what() {
        Retried::File(path) => retry_report::run(path, args, settings).await,
        Retried::Run(run) => match args.file_flag() {
            Some(flag) => Err(Failure::new(
                Exit::Usage,
                format!("{flag} is for reports, and {run} is the number of a run"),
                "leave it out, or name the file; one that is called like a number is written ./42",
            )),
            None => retry(run, args, settings).await,
        },
    }
}

async fn retry(run: RunId, args: &Retry, settings: &Settings) -> Result<Exit, Failure> {
    let ledger = sending::ledger(settings).await?;
    let run = ledger.run(run).await?;
    let concurrency = usize::from(args.pacing.concurrency);
    let (client, locked) = bind(&ledger, &run, settings, concurrency, Bound::Retry).await?;
    let refused = |why: String, hint: String| Err(refused(run.id, &why, &hint));
    // Two runs that both held a record could both send it.
    if let Some(later) = ledger.retried_by(run.id).await? {
        let hint = format!("what failed of that: `sheetport retry {later}`");
        return refused(format!("run {later} did that"), hint);
    }
    let family = ledger.family(&run).await?;
    check_nothing_pending(&ledger, run.id, &family).await?;
    let accounting = ledger.accounting(run.id).await?;
    if accounting.failed == 0 {
        let hint = match accounting.unknown {
            0 => "rows that are wrong in the sheet are mended in its report: `sheetport retry REPORT`".to_owned(),
            _ => format!("say first what became of the records in doubt: `sheetport resolve {}`", run.id),
        };
        return refused("no record of it failed".to_owned(), hint);
    }
    let kind = run.about.record;
    let failed = ledger.still_failed(&run, &family, kind.input().must_not_repeat()).await?;
    if failed.is_empty() {
        let hint = "`sheetport runs` lists them".to_owned();
        return refused("other runs have sent since what failed of it".to_owned(), hint);
    }
    let again = ledger.plan_retry(&run, &failed, now()).await?;
    if settings.output.talks() {
        let records = ui::counted(failed.len() as u64, "failed record");
        ui::line(format_args!("run {again}  {records} of run {}, {}", run.id, run.about.file));
    }
    let sending = Sending {
        settings,
        ledger: &ledger,
        client: Arc::new(client),
        run: ledger.lock_run_with(locked.into_lock(), again).await?,
        kind,
        pacing: &args.pacing,
        max_errors: args.max_errors,
        report: args.report.as_deref(),
        is_rehearsal: false,
    };
    let (exit, summary) = sending.finish("retry").await?;
    ledger.close().await;
    summary.print(settings.output);
    Ok(exit)
}

/// Refuses while a run of the family has records to be sent: what is planned anew could be sent by both.
pub async fn check_nothing_pending(ledger: &Ledger, run: RunId, family: &Family) -> Result<(), Failure> {
    let can_go_on = |state| matches!(state, RunState::Planned | RunState::Finished);
    for member in family.runs.iter().filter(|member| can_go_on(member.state)) {
        let pending = ledger.accounting(member.id).await?.pending;
        if pending > 0 {
            let of =
                if member.id == run { "it".to_owned() } else { format!("run {}, which belongs to it,", member.id) };
            let why = format!("{} of {of} not sent yet", ui::counted(pending, "record"));
            return Err(refused(run, &why, &format!("`sheetport resume {}` first", member.id)));
        }
    }
    Ok(())
}

pub fn refused(run: RunId, why: &str, hint: &str) -> Failure {
    Failure::new(Exit::Usage, format!("run {run} can't be tried again: {why}"), hint)
}
