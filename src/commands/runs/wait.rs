//! `runs wait`, `runs watch` and `runs stop`: runs sent by workers or by other commands.

use std::path::Path;

use serde_json::json;
use sheetport_language::say;
use sheetport_ledger::{RunId, user_name};
use sheetport_operations::{self as operations, Event};

use crate::commands::console::Console;
use crate::commands::console::signals::Interrupt;
use crate::commands::summary::finish::finish;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// Waits for a run and writes its report.
pub(super) async fn wait(run: Option<RunId>, report: Option<&Path>, settings: &Settings) -> Result<Exit, Failure> {
    until_ended("runs wait", run, report, false, settings).await
}

/// Shows the progress of a run.
pub(super) async fn watch(run: Option<RunId>, settings: &Settings) -> Result<Exit, Failure> {
    until_ended("runs watch", run, None, true, settings).await
}

async fn until_ended(
    command: &str,
    run: Option<RunId>,
    report: Option<&Path>,
    watches_only: bool,
    settings: &Settings,
) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let observer = |event: Event<'_>| console.show(event);
    let stop = Box::pin(interrupt.signal());
    let ended = operations::wait(&settings.context, run, report, watches_only, stop, &observer).await?;
    let Some(finished) = ended else {
        ui::remark(say!("the run goes on; `sheetport runs watch` shows its progress"));
        return Ok(interrupt.exit());
    };
    let (exit, summary) = finish(command, finished, &interrupt, settings);
    summary.print(settings.output);
    Ok(exit)
}

/// Stops a queued run.
pub(super) async fn stop(run: RunId, by: Option<&str>, settings: &Settings) -> Result<Exit, Failure> {
    let by = by.map_or_else(user_name, str::to_owned);
    operations::stop_run(&settings.context, run, &by).await?;
    if settings.output.json {
        ui::json(&json!({"run": run, "command": "runs stop", "by": by}));
    } else if settings.output.talks() {
        ui::line(say!("run {run}: stopped; the requests in flight of its workers end as usual"));
    }
    Ok(Exit::Done)
}
