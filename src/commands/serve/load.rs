//! `serve load`: loads records from spreadsheets into the service's data folder.

use serde_json::json;
use sheetport_language::say;
use sheetport_trial::{self as trial, LoadedFile};

use super::storage::storage;
use crate::cli::Load;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Load, settings: &Settings) -> Result<Exit, Failure> {
    let show = |file: &LoadedFile| {
        if !settings.output.json {
            print(file);
        }
    };
    let files = trial::load(storage(&args.data)?, &args.workspace, &args.files, args.kind, &show).await?;
    if settings.output.json {
        let files: Vec<_> = files
            .iter()
            .map(|file| json!({"file": file.path, "records": file.kind.name, "outcome": file.outcome}))
            .collect();
        ui::json(&json!({"command": "serve load", "workspace": args.workspace, "files": files}));
    }
    let has_rejected = files.iter().any(|file| file.outcome.rejected > 0);
    Ok(if has_rejected { Exit::RowsFailed } else { Exit::Done })
}

fn print(LoadedFile { path, kind, outcome }: &LoadedFile) {
    let (strong, bad, faint) = (ui::style::STRONG, ui::style::BAD, ui::style::FAINT);
    ui::line(say!(
        "{strong}{}{strong:#}  {} {}: {} created, {} updated, {} unchanged, {} rejected",
        path.display(),
        ui::thousands(outcome.rows),
        kind.name,
        ui::thousands(outcome.created),
        ui::thousands(outcome.updated),
        ui::thousands(outcome.unchanged),
        ui::thousands(outcome.rejected)
    ));
    if !outcome.ignored.is_empty() {
        ui::line(say!("  {faint}not used: {}{faint:#}", outcome.ignored.join(", ")));
    }
    for problem in &outcome.problems {
        let (row, field, message) = (problem.row, &problem.field, &problem.message);
        ui::line(say!("  {bad}row {row}{bad:#}  {strong}{field}{strong:#} {message}"));
    }
}
