//! `runs backup`: copies the ledger into a file.

use serde_json::json;
use sheetport_language::say;
use sheetport_operations as operations;

use crate::cli::Backup;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Backup, settings: &Settings) -> Result<Exit, Failure> {
    let backup = operations::backup(&settings.context, &args.file, args.replace).await?;
    if settings.output.json {
        ui::json(&json!({"command": "backup", "file": backup.path, "bytes": backup.bytes, "runs": backup.runs}));
        return Ok(Exit::Done);
    }
    let runs = ui::counted(backup.runs as u64, "run");
    ui::line(say!("Copied the ledger with {runs} to {}, and checked the copy", backup.path.display()));
    Ok(Exit::Done)
}
