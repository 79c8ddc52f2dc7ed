//! `undo`: shows what taking a run back would change, and does so if a person agrees.

use sheetport_language::say;
use sheetport_operations::{self as operations, PlanTarget, PlannedUndo};
use sheetport_plan::approve::Approve;

use super::resume::send_options;
use crate::cli::Undo;
use crate::commands::console::Console;
use crate::commands::console::signals::Interrupt;
use crate::commands::summary::Summary;
use crate::commands::summary::changes::{Changes, Undone};
use crate::commands::summary::finish::finish;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(in crate::commands) async fn run(args: &Undo, settings: &Settings) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let (context, output) = (&settings.context, settings.output);
    let observer = |event: operations::Event<'_>| console.show(event);
    let sending = send_options(&args.sending);
    let request = operations::Undo { run: args.run, rows: args.rows, output: args.output.as_deref(), sending };
    let planned = operations::plan_undo(context, request, &observer).await?;
    console.finish(planned.requests);
    let PlannedUndo { run, accounting, ways, difference, causes, written, next, requests } = planned;
    if output.talks() {
        ui::changes::print_undo(&ways, &difference, &causes);
    }
    if next.is_none() {
        ui::remark(say!("nothing is left to take back"));
    }
    let stays = if ways.kept + ways.partly + ways.cannot > 0 { Exit::RowsFailed } else { Exit::Done };
    let asks = || {
        let records = ui::counted(accounting.pending, "record");
        let question = say!("Take {records} back? [y/N]");
        matches!(ui::ask(&question).as_deref(), Some("y" | "yes"))
    };
    let is_agreed = next.is_some() && (args.yes || args.output.is_none() && output.can_ask() && asks());
    if !is_agreed {
        let mut summary = Summary::of_run("undo", &run, &accounting, written, next);
        summary.other_requests = requests;
        summary.set_undo(Undone::of(&ways), &causes);
        summary.changes = Some(Changes::of(&difference));
        summary.print(output);
        return Ok(stays);
    }
    let apply = operations::Apply {
        target: PlanTarget::Run(run.id),
        approve: Some(Approve::All),
        accepts_old: true,
        asks_of_old: None,
        sending,
    };
    let finished = operations::apply(context, apply, Box::pin(interrupt.wait()), &observer).await;
    let finished = finished.map_err(|error| interrupt.after(error.into()))?;
    let (exit, mut summary) = finish("undo", finished, &interrupt, settings);
    summary.set_undo(Undone::of(&ways), &causes);
    summary.other_requests += requests;
    summary.changes = Some(Changes::of(&difference));
    summary.print(output);
    Ok(if exit == Exit::Done { stays } else { exit })
}
