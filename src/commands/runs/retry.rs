//! `retry`: sends the records of a report that were not accepted, or the refused records of a run.

use sheetport_operations::{
    self as operations, CommandLine, Context, RetryReport, SendOptions, TemplateChanges, load_template,
};

use super::resume::send_options;
use crate::cli::{Retry, RetryTarget};
use crate::commands::console::Console;
use crate::commands::console::signals::Interrupt;
use crate::commands::input::open;
use crate::commands::summary::Summary;
use crate::commands::summary::finish::finish;
use crate::commands::upload::print_requests;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;

pub(in crate::commands) async fn run(args: Retry, settings: &Settings) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let context = &settings.context;
    let observer = |event: operations::Event<'_>| console.show(event);
    let sending =
        SendOptions { overwrites_newer: args.as_new || args.sending.overwrite_newer, ..send_options(&args.sending) };
    let (exit, summary) = match args.target() {
        RetryTarget::Run(run) => {
            check_flags(&args, run)?;
            let finished = operations::retry_run(context, run, sending, Box::pin(interrupt.wait()), &observer).await;
            let finished = finished.map_err(|error| interrupt.after(error.into()))?;
            finish("retry", finished, &interrupt, settings)
        }
        RetryTarget::File(path) => {
            let file = open(path, settings).await?;
            let changes = TemplateChanges {
                parameters: &args.set,
                sheet: args.of_sheet.keys(),
                defaults: context.defaults(),
                lookup_folders: &args.allow_lookup,
            };
            let template = args.template.as_deref().map(|template| load_template(template, changes)).transpose()?;
            let request = RetryReport {
                file: &file,
                text: args.reading.options(),
                edits: None,
                template,
                keys: args.of_sheet.keys(),
                as_new: args.as_new,
                sends_accepted: false,
                changed_only: false,
                keep_lines: false,
                only: None,
                fill_blank: false,
                undoable: false,
                all_or_nothing: args.all_or_nothing,
                strict: args.strict,
                accepts: &args.accept,
                sending,
            };
            if args.dry_run {
                let (template, preview) = operations::preview_retry(context, request, &observer).await?;
                print_requests(&preview.requests, settings.output);
                let mut summary =
                    Summary::of_tally("retry", template.record, &template.name, &preview.tally, &file.name);
                summary.next = (preview.tally.to_send > 0).then(|| retry_command(&args, context));
                (summary.exit(), summary)
            } else {
                let finished = operations::retry_report(context, request, Box::pin(interrupt.wait()), &observer).await;
                let finished = finished.map_err(|error| interrupt.after(error.into()))?;
                finish("retry", finished, &interrupt, settings)
            }
        }
    };
    summary.print(settings.output);
    Ok(exit)
}

/// Refuses flags that apply only to reports.
fn check_flags(args: &Retry, run: i64) -> Result<(), Failure> {
    args.file_flag().map_or(Ok(()), |flag| {
        Err(Failure::new(
            ErrorCode::Usage,
            format!("{flag} is for reports, but {run} is the number of a run"),
            format!("leave out {flag}, or name a file; write ./{run} for a file called {run}"),
        ))
    })
}

/// Returns the command for retrying the report with the same flags.
fn retry_command(args: &Retry, context: &Context) -> String {
    let sending = &args.sending;
    let mut command = CommandLine::new(context, "retry").file(&args.what).switch("as-new", args.as_new);
    if let Some(template) = &args.template {
        command = command.short('t', "template", template);
    }
    for (name, value) in &args.set {
        command = command.flag("set", Some(format!("{name}={value}")));
    }
    for (name, value) in args.of_sheet.in_use() {
        command = command.flag(name, Some(value));
    }
    for folder in &args.allow_lookup {
        command = command.flag("allow-lookup", Some(folder));
    }
    command = command
        .flag("rate", sending.rate.map(|rate| rate.to_string()))
        .flag("concurrency", sending.concurrency.map(|number| number.to_string()))
        .flag("max-errors", sending.max_errors.map(|number| number.to_string()))
        .flag("max-unknown", sending.max_unknown.map(|number| number.to_string()))
        .switch("overwrite-newer", sending.overwrite_newer)
        .choice("all-or-nothing", args.all_or_nothing)
        .choice("strict", args.strict)
        .flag(
            "accept",
            Some(args.accept.iter().map(|code| code.name()).collect::<Vec<_>>().join(","))
                .filter(|codes| !codes.is_empty()),
        )
        .flag("report", sending.report.as_ref())
        .flag("titles", sending.titles.language)
        .choice("for-supplier", sending.for_supplier);
    let reading = args.reading.in_use();
    reading.into_iter().fold(command, |command, (name, value)| command.flag(name, Some(value))).to_string()
}
