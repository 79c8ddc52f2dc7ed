//! `export`: a whole list into a file.

use std::time::Instant;

use serde_json::json;

use super::sending;
use crate::api::pages::Completeness;
use crate::api::{Client, Pace};
use crate::cli::{Export, Exportable};
use crate::error::{Exit, Failure};
use crate::export::{self, Exported, Options};
use crate::records::{List, item};
use crate::settings::Settings;
use crate::ui;
use crate::ui::progress::Progress;

pub async fn run(args: &Export, settings: &Settings) -> Result<Exit, Failure> {
    let exported = export(args, settings).await?;
    print(&exported, args.records, settings);
    Ok(match exported.completeness {
        Completeness::Unproven(_) => Exit::Incomplete,
        Completeness::TotalReached | Completeness::ReadToTheEnd => Exit::Done,
    })
}

/// Reads the list and writes the file, showing how far it is.
pub async fn export(args: &Export, settings: &Settings) -> Result<Exported, Failure> {
    let format = sending::report_format(&args.output)?;
    let concurrency = usize::from(args.pacing.concurrency);
    let client = Client::new(settings.base_url()?, settings.credentials.clone(), concurrency)?;
    let pace = Pace::new(args.pacing.rate, Instant::now());
    let list = list(args.records);
    let progress = Progress::new(settings.output.progress, "reading", "record", None);
    let show = |records, total: Option<u64>| {
        if let Some(total) = total {
            progress.set_total(total);
        }
        progress.at(records, String::new);
    };
    let options = Options { path: &args.output, format, concurrency, folder: &settings.home.join("spool") };
    let exported = export::export(&client, &pace, list, &options, &show).await?;
    progress.finish(exported.records);
    Ok(exported)
}

fn list(records: Exportable) -> &'static List {
    match records {
        Exportable::Items => &item::LIST,
    }
}

/// The object that `--json` prints.
pub fn as_json(exported: &Exported, records: Exportable) -> serde_json::Value {
    let (complete, how) = completeness(exported);
    json!({
        "command": "export",
        "records": list(records).name,
        "file": exported.path,
        "count": exported.records,
        "pages": exported.pages,
        "duplicates": exported.duplicates,
        "total": exported.total,
        "complete": complete,
        "how": how,
    })
}

/// Whether the export is whole, and how that is known.
fn completeness(exported: &Exported) -> (bool, &str) {
    match &exported.completeness {
        Completeness::TotalReached => (true, "as many different records as the service says there are"),
        Completeness::ReadToTheEnd => (true, "read until a page was empty; the service names no total"),
        Completeness::Unproven(reason) => (false, reason),
    }
}

/// Prints what was exported as `settings` want it.
pub fn print(exported: &Exported, records: Exportable, settings: &Settings) {
    if settings.output.json {
        ui::json(&as_json(exported, records));
        return;
    }
    let (complete, how) = completeness(exported);
    let list = list(records);
    let (good, bad, faint) = (ui::style::GOOD, ui::style::BAD, ui::style::FAINT);
    ui::line(format_args!("{} {} in {}", ui::thousands(exported.records), list.name, exported.path.display()));
    if complete {
        ui::line(format_args!("  {good}complete{good:#}: {faint}{how}{faint:#}"));
    } else {
        ui::line(format_args!("  {bad}not shown to be complete{bad:#}: {how}"));
    }
}
