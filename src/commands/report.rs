//! `report`: a run's outcomes as a spreadsheet, made from the ledger alone.

use serde_json::json;

use super::{reporting, sending};
use crate::cli::Report;
use crate::error::{Exit, Failure};
use crate::report::{self, Request};
use crate::settings::Settings;
use crate::sheet::write::Existing;
use crate::ui;

pub async fn run(args: &Report, settings: &Settings) -> Result<Exit, Failure> {
    let format = reporting::report_format(&args.output)?;
    let ledger = sending::ledger(settings).await?;
    let run = ledger.run_or_newest(args.run).await?;
    let next = reporting::next(&run, &ledger.accounting(run.id).await?, false, Some(&args.output));
    let request = Request {
        path: &args.output,
        format,
        existing: Existing::Keep,
        rows: args.only.unwrap_or_else(|| format.default_rows()),
        next: next.as_deref(),
        is_kept: true,
        choices: &reporting::choices(&run, format, settings.output.talks()),
        has_bom: args.bom,
    };
    let written = report::write(&ledger, &run, &request).await?;
    if settings.output.json {
        ui::json(
            &json!({"run": run.id, "command": "report", "rows": written.rows, "left_out": written.left_out, "report": written.path}),
        );
    } else if !settings.output.quiet {
        ui::line(format_args!("{} of run {} in {}", ui::counted(written.rows, "row"), run.id, written.path.display()));
    }
    if written.left_out > 0 {
        let rows = ui::counted(written.left_out, "row");
        ui::remark(format_args!("{rows} more than a page can show are left out; a .csv or .xlsx report has them all"));
    }
    ledger.close().await;
    Ok(Exit::Done)
}
