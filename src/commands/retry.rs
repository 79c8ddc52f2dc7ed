//! `retry`: sends the failed records of a run again, as a run of their own.

use std::sync::Arc;

use super::resume::{bind, kind};
use super::sending::{self, Sending};
use super::{now, reporting};
use crate::cli::Retry;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub async fn run(args: &Retry, settings: &Settings) -> Result<Exit, Failure> {
    if let Some(report) = &args.report {
        reporting::check_report(report)?;
    }
    let ledger = sending::ledger(settings).await?;
    let mut run = ledger.run(args.run).await?;
    let (client, _lock) = bind(&ledger, &mut run, settings, usize::from(args.pacing.concurrency)).await?;
    let refused = |why: String, hint: String| {
        Err(Failure::new(Exit::Usage, format!("run {} can't be tried again: {why}", run.id), hint))
    };
    // Two runs that both held a record could both send it.
    if let Some(later) = ledger.retried_by(run.id).await? {
        let hint = format!("what failed of that: `sheetport retry {later}`");
        return refused(format!("run {later} did that"), hint);
    }
    let accounting = ledger.accounting(run.id).await?;
    if accounting.pending > 0 {
        let records = ui::counted(accounting.pending, "record");
        let hint = format!("`sheetport resume {}` first", run.id);
        return refused(format!("{records} of it not sent yet"), hint);
    }
    if accounting.failed == 0 {
        let hint = match accounting.unknown {
            0 => "rows that are wrong in the sheet are mended there, and the report is uploaded".to_owned(),
            _ => format!("say first what became of the records in doubt: `sheetport resolve {}`", run.id),
        };
        return refused("no record of it failed".to_owned(), hint);
    }
    let kind = kind(&run)?;
    let again = ledger.plan_retry(&run, now()).await?;
    if settings.output.talks() {
        let records = ui::counted(accounting.failed, "failed record");
        ui::line(format_args!("run {again}  {records} of run {}, {}", run.id, run.about.file));
    }
    let sending = Sending {
        settings,
        ledger: &ledger,
        client: Arc::new(client),
        run: ledger.run(again).await?,
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
