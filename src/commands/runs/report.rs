//! `report`: writes a run's outcomes as a spreadsheet or a page, from the ledger alone.

use serde_json::json;
use sheetport_language::say;
use sheetport_operations::{self as operations, ReportRequest};
use sheetport_report::CsvForm;
use sheetport_sheet::write::Existing;

use crate::cli::Report;
use crate::commands::console::Console;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(in crate::commands) async fn run(args: &Report, settings: &Settings) -> Result<Exit, Failure> {
    let console = Console::new(settings.output);
    let request = ReportRequest {
        run: args.run,
        path: &args.output,
        rows: args.only,
        existing: Existing::Keep,
        csv: CsvForm { delimiter: args.delimiter, bom: args.bom },
        has_next: true,
        for_supplier: args.for_supplier,
    };
    let (run, written, next) = operations::report(&settings.context, &request, &|event| console.show(event)).await?;
    if settings.output.json {
        ui::json(&json!({
            "run": run.id, "command": "report", "rows": written.rows, "left_out": written.left_out,
            "report": written.path, "next": next,
        }));
    } else if !settings.output.quiet {
        let rows = ui::counted(written.rows, "row");
        ui::line(say!("Wrote {rows} of run {} to {}", run.id, written.path.display()));
        ui::next(next.as_deref());
    }
    if written.left_out > 0 {
        let rows = ui::counted(written.left_out, "row");
        ui::remark(say!("the page is full: {rows} left out; a .csv or .xlsx report has all of them"));
    }
    Ok(Exit::Done)
}
