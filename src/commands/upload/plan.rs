//! `plan`: shows what an upload would change in the service, and keeps the plan for `resume`.

use sheetport_operations::{self as operations, MissingFlags, PlannedChanges, SendOptions};

use crate::cli::Plan;
use crate::commands::console::Console;
use crate::commands::input::{Purpose, open, spreadsheet, with_suggestion};
use crate::commands::summary::Summary;
use crate::commands::summary::changes::Changes;
use crate::commands::summary::missing::Missing;
use crate::error::{Exit, Failure};
use crate::settings::{Output, Settings};
use crate::ui;

pub(in crate::commands) async fn run(args: &Plan, settings: &Settings) -> Result<Exit, Failure> {
    // What is printed beside the Markdown would be a part of it.
    let quiet =
        args.markdown.then(|| Settings { output: Output { quiet: true, ..settings.output }, ..settings.clone() });
    let settings = quiet.as_ref().unwrap_or(settings);
    let (context, output) = (&settings.context, settings.output);
    let file = open(&args.input.file, settings).await?;
    let mut input = spreadsheet(&file, &args.input, Purpose::Looking, settings).await?;
    (input.rows, input.is_strict) = (args.rows, args.strict);
    let sending =
        SendOptions { concurrency: args.pacing.concurrency, rate: args.pacing.rate, ..SendOptions::default() };
    let upload = operations::Upload {
        changed_only: args.changed_only,
        only: args.only,
        fill_blank: args.fill_blank,
        missing: Some(MissingFlags { set: args.missing.clone(), at_most: args.at_most }),
        keep_lines: args.keep_lines,
        accepts_doubts: args.yes,
        ..operations::Upload::plain(input, sending)
    };
    let console = Console::new(output);
    let observer = |event: operations::Event<'_>| console.show(event);
    let most = if args.markdown { ui::markdown::MOST } else { 0 };
    let planned = match operations::plan_changes(context, upload, args.output.as_deref(), most, &observer).await {
        Ok(planned) => planned,
        Err(error) => return Err(with_suggestion(error, &file, &args.input, settings).await),
    };
    console.finish(planned.requests);
    let PlannedChanges { run, accounting, tally, difference, missing, first, left_out, written, next, requests } =
        planned;
    let next = next.filter(|_| tally.questions.is_empty());
    if args.markdown {
        ui::markdown::print(&run, &accounting, (&difference, missing.as_ref()), &first, next.as_deref());
        let mut summary = Summary::of_run("plan", &run, &accounting, written, next);
        summary.of_plan(&tally, &left_out, requests);
        summary.missing = missing.as_ref().map(Missing::of);
        return Ok(summary.exit());
    }
    if output.talks() {
        ui::changes::print(&difference);
        missing.iter().for_each(ui::missing::print);
    }
    let mut summary = Summary::of_run("plan", &run, &accounting, written, next);
    summary.of_plan(&tally, &left_out, requests);
    summary.missing = missing.as_ref().map(Missing::of);
    summary.changes = Some(Changes::of(&difference));
    summary.print(output);
    Ok(summary.exit())
}
