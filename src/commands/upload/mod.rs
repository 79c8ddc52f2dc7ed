//! `upload`: reads the whole file, plans every record, then sends.
//! `plan`, `check` and `explain` try the same without sending.

pub(super) mod check;
pub(super) mod explain;
mod explain_column;
pub(super) mod plan;

use sheetport_language::say;
use sheetport_ledger::Causes;
use sheetport_operations::{self as operations, AllowRepeat, PreviewedRequest, Questions, SendOptions};
use sheetport_plan::Tally;
use sheetport_plan::count::needs_look;
use sheetport_trial::{Rehearse, rehearse};

use super::console::Console;
use super::console::signals::Interrupt;
use super::input::{Purpose, open, to_send, with_suggestion};
use super::next_command;
use super::summary::Summary;
use super::summary::finish::finish;
use crate::cli::Upload;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::{Output, Settings};
use crate::ui;

pub(super) async fn run(args: &Upload, settings: &Settings) -> Result<Exit, Failure> {
    let (exit, summary) = upload(args, settings).await?;
    summary.print(settings.output);
    Ok(exit)
}

/// Uploads, and leaves printing the summary to the caller.
pub(super) async fn upload(args: &Upload, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let (context, output) = (&settings.context, settings.output);
    if args.missing.is_some() || args.at_most.is_some() {
        let flag = if args.missing.is_some() { "--missing" } else { "--at-most" };
        let message = format!("{flag} is for a plan that a person looks at before it is applied");
        return Err(Failure::new(
            ErrorCode::Usage,
            message,
            "use `sheetport plan` with this flag, then `sheetport apply`",
        ));
    }
    let file = open(&args.input.file, settings).await?;
    // A dry run and a rehearsal send nothing to the service.
    let purpose = match args.dry_run || args.rehearse {
        true => Purpose::Looking,
        false => Purpose::Sending { is_agreed: args.yes || settings.accepts_recognized, upload: args },
    };
    let (mut input, is_new) = to_send(&file, &args.input, purpose, settings).await?;
    (input.rows, input.is_strict) = (args.rows, args.strict);
    let (record, template) = (input.template.record, input.template.name.clone());
    let upload = operations::Upload {
        input,
        sending: SendOptions {
            concurrency: args.pacing.concurrency,
            // A rehearsal only foretells the time at a rate.
            rate: args.pacing.rate.filter(|_| !args.rehearse),
            max_errors: args.max_errors,
            max_unknown: args.max_unknown,
            priority: args.priority,
            overwrites_newer: false,
            is_to_queue: args.queue,
            report: args.report.as_deref(),
            for_supplier: Some(args.for_supplier),
        },
        changed_only: args.changed_only,
        only: args.only,
        fill_blank: args.fill_blank,
        missing: None,
        all_or_nothing: args.all_or_nothing,
        allow_repeat: allow_repeat(args.allow_repeat.as_deref()),
        restore_texts: args.restore_texts,
        keep_lines: args.keep_lines,
        undoable: args.undoable,
        accepts_doubts: args.yes,
        create_missing_items: args.create_missing_items,
        trigger_workflows: args.trigger_workflows,
    };
    let console = if args.dry_run { Console::for_preview(output) } else { Console::new(output) };
    let observer = |event: operations::Event<'_>| console.show(event);
    if args.dry_run {
        let preview = match operations::preview_upload(context, upload, &observer).await {
            Ok(preview) => preview,
            Err(error) => return Err(with_suggestion(error, &file, &args.input, settings).await),
        };
        print_requests(&preview.requests, output);
        let mut summary = Summary::of_tally("upload", record, &template, &preview.tally, &file.name);
        let is_ready = preview.tally.to_send > 0 && preview.tally.questions.is_empty();
        summary.next = is_ready.then(|| next_command::upload(args, &template, context).to_string());
        return Ok((summary.exit(), summary));
    }
    let interrupt = Interrupt::default();
    if args.rehearse && output.talks() {
        ui::remark(say!("This is a rehearsal with a temporary service on this machine. Nothing is sent elsewhere."));
    }
    let asks = output.can_ask() && !args.yes && !args.rehearse;
    let questions = asks.then_some(Questions {
        sends: &agrees,
        is_always_asked: is_new,
        restores_texts: &restores,
        sends_edited: &sends_edited,
    });
    let interrupted = Box::pin(interrupt.wait());
    let finished = match args.rehearse {
        true => {
            let from = Rehearse { exports: &args.from, speed: args.pacing.rate };
            rehearse(context, upload, from, questions, interrupted, &observer).await
        }
        false => operations::upload(context, upload, questions, interrupted, &observer).await,
    };
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return Err(interrupt.after(with_suggestion(error, &file, &args.input, settings).await)),
    };
    let (exit, mut summary) = finish("upload", finished, &interrupt, settings);
    if args.rehearse {
        let next = (summary.accounting.sent > 0).then(|| next_command::upload(args, &template, context).to_string());
        (summary.run, summary.next) = (None, next);
    }
    Ok((exit, summary))
}

/// Returns the records to send again: all if the flag has no names.
fn allow_repeat(names: Option<&[String]>) -> AllowRepeat {
    let names = names.map(|names| names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
    match names.map(Iterator::collect::<Vec<_>>) {
        None => AllowRepeat::None,
        Some(names) if names.is_empty() => AllowRepeat::All,
        Some(names) => AllowRepeat::Named(names),
    }
}

/// Asks whether to take changed texts back.
fn restores(count: u64) -> bool {
    let texts = ui::counted(count, "text");
    ui::remark(say!("a spreadsheet program changed {texts}, as 000042 to 42 or 3-5 to a date"));
    matches!(ui::ask(&say!("Take {texts} back as the service has them? [y/N]")).as_deref(), Some("y" | "yes"))
}

/// Asks whether to send a file.
fn agrees(tally: &Tally) -> bool {
    let records = ui::counted(tally.to_send, "record");
    let question = match tally.warnings.is_empty() {
        true => say!("Send {records}? [y/N]"),
        false => say!("Send {records} in spite of the warnings? [y/N]"),
    };
    matches!(ui::ask(&question).as_deref(), Some("y" | "yes"))
}

/// Shows records that were edited since they were sent, and asks whether to send them beside the sent ones.
fn sends_edited(causes: &Causes, count: u64) -> bool {
    ui::heading(&say!("Edited since they were sent"));
    ui::problems::print(causes);
    let question = say!("Create {} beside the sent ones? [y/N]", ui::counted(count, "record"));
    matches!(ui::ask(&question).as_deref(), Some("y" | "yes"))
}

/// Prints the first requests of a dry run.
pub(super) fn print_requests(requests: &[PreviewedRequest], output: Output) {
    if requests.is_empty() || !output.talks() {
        return;
    }
    ui::heading(&say!("First requests"));
    let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
    for PreviewedRequest { method, path, body, .. } in requests {
        ui::line(say!("  {strong}{method} {path}{strong:#}"));
        ui::line(say!("  {faint}{body}{faint:#}"));
    }
    print_lookups(requests);
}

/// Says that an order gets another name in its path than shown, and a count its difference.
fn print_lookups(requests: &[PreviewedRequest]) {
    let faint = ui::style::FAINT;
    if requests.iter().any(|request| request.is_looked_up) {
        ui::line(say!(
            "  {faint}The service's id of the order takes the place of the external id; it is looked up before sending.{faint:#}"
        ));
    }
    if requests.iter().any(|request| needs_look(&request.body)) {
        ui::line(say!(
            "  {faint}The difference from the stock in the service takes the place of what was counted; it is looked up before sending.{faint:#}"
        ));
    }
}

/// Returns a cell for one line.
fn shortened(cell: &str) -> String {
    const MAX_CHARS: usize = 50;
    let shown: String = cell.chars().take(MAX_CHARS).collect();
    let cut = if shown.len() < cell.len() { "…" } else { "" };
    format!("{shown}{cut}")
}
