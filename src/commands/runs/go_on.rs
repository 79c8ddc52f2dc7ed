//! `continue`: goes on with a run by the command that fits its state.

use serde_json::json;
use sheetport_language::say;
use sheetport_operations::{self as operations, CommandLine, Continued, NextStep};

use crate::cli::{Command, Continue, RetryTarget};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// Returns the command that goes on, or the exit code if a person has to do something else first.
pub(in crate::commands) async fn chosen(args: Continue, settings: &Settings) -> Result<Result<Command, Exit>, Failure> {
    let context = &settings.context;
    let run = match args.target() {
        Some(RetryTarget::File(report)) => {
            let report = report.to_owned();
            tell(Some(&CommandLine::new(context, "retry").file(&report).to_string()), settings);
            return Ok(Ok(args.retry(report)));
        }
        Some(RetryTarget::Run(run)) => Some(run),
        None => None,
    };
    let continued = operations::next_step(context, run).await?;
    let run = continued.run;
    match continued.step {
        NextStep::Resume => {
            tell(continued.next.as_deref(), settings);
            Ok(Ok(args.resume(run)))
        }
        NextStep::Resolve => {
            tell(continued.next.as_deref(), settings);
            Ok(Ok(Continue::resolve(run)))
        }
        _ => Ok(Err(told(&continued, settings))),
    }
}

/// Says which command goes on.
fn tell(command: Option<&str>, settings: &Settings) {
    if settings.output.talks() && !settings.output.json {
        command.into_iter().for_each(ui::remark);
    }
}

/// Says what a person has to do first, and returns the exit code.
fn told(continued: &Continued, settings: &Settings) -> Exit {
    let Continued { run, status, step, next } = continued;
    let (message, exit) = match step {
        NextStep::Approve => (say!("run {run} is a plan that waits for your approval"), Exit::Done),
        NextStep::Wait => (say!("run {run} is being sent, or waits for workers"), Exit::Done),
        NextStep::Fix => {
            let message = say!(
                "rows of run {run} need fixing: fix them in its report and name that report, or in the browser with `sheetport review {run}`"
            );
            (message, Exit::RowsFailed)
        }
        NextStep::Begin => (say!("the file of run {run} was not read to its end, and nothing was sent"), Exit::Stopped),
        NextStep::Check => (say!("the ledger has lost something of run {run}"), Exit::Fault),
        NextStep::Resume | NextStep::Resolve | NextStep::Nothing => {
            (say!("run {run} is done: nothing is left to do"), Exit::Done)
        }
    };
    if settings.output.json {
        ui::json(&json!({"command": "continue", "run": run, "state": status.name(), "next": next}));
    } else {
        ui::line(message);
        ui::next(next.as_deref());
    }
    exit
}
