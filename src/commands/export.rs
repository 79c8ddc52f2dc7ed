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
    print(&exported, list, settings);
    Ok(match exported.completeness {
        Completeness::Unproven(_) => Exit::Incomplete,
        Completeness::TotalReached | Completeness::ReadToTheEnd => Exit::Done,
    })
}

fn list(records: Exportable) -> &'static List {
    match records {
        Exportable::Items => &item::LIST,
    }
}

fn print(exported: &Exported, list: &List, settings: &Settings) {
    let (complete, how) = match &exported.completeness {
        Completeness::TotalReached => (true, "as many different records as the service says there are".to_owned()),
        Completeness::ReadToTheEnd => (true, "read until a page was empty; the service names no total".to_owned()),
        Completeness::Unproven(reason) => (false, reason.clone()),
    };
    if settings.output.json {
        ui::json(&json!({
            "command": "export",
            "records": list.name,
            "file": exported.path,
            "count": exported.records,
            "pages": exported.pages,
            "duplicates": exported.duplicates,
            "total": exported.total,
            "complete": complete,
            "how": how,
        }));
        return;
    }
    let (good, bad, faint) = (ui::style::GOOD, ui::style::BAD, ui::style::FAINT);
    ui::line(format_args!("{} {} in {}", ui::thousands(exported.records), list.name, exported.path.display()));
    if complete {
        ui::line(format_args!("  {good}complete{good:#}: {faint}{how}{faint:#}"));
    } else {
        ui::line(format_args!("  {bad}not shown to be complete{bad:#}: {how}"));
    }
}
