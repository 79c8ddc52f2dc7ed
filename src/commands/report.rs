//! `report`: a run's outcomes as a spreadsheet, made from the ledger alone.

use serde_json::json;

use super::{reporting, sending};
use crate::cli::Report;
use crate::error::{Exit, Failure};
use crate::ledger::RunState;
use crate::report::{self, Request};
use crate::settings::Settings;
use crate::sheet::write::Existing;
use crate::ui;

pub async fn run(args: &Report, settings: &Settings) -> Result<Exit, Failure> {
    let format = reporting::report_format(&args.output)?;
    let ledger = sending::ledger(settings).await?;
    let run = ledger.run_or_newest(args.run).await?;
    let accounting = ledger.accounting(run.id).await?;
    let next = match run.state {
        RunState::Withheld => Some(reporting::mend(&run, Some(&args.output))),
        _ => reporting::next(&run, &accounting, false, Some(&args.output)),
    };
    let request = Request {
        path: &args.output,
        format,
        existing: Existing::Keep,
        only: args.only,
        next: next.as_deref(),
        choices: &reporting::choices(&run, format, settings.output.talks()),
        has_bom: args.bom,
    };
    let written = report::write(&ledger, &run, &request).await?;
    if settings.output.json {
        ui::json(&json!({"run": run.id, "command": "report", "rows": written.rows, "report": written.path}));
    } else if !settings.output.quiet {
        ui::line(format_args!("{} of run {} in {}", ui::counted(written.rows, "row"), run.id, written.path.display()));
    }
    ledger.close().await;
    Ok(Exit::Done)
}
