//! `check`: finds all problems of a file without sending anything.

use sheetport_operations as operations;

use crate::cli::Check;
use crate::commands::console::Console;
use crate::commands::input::{Purpose, open, spreadsheet, with_suggestion};
use crate::commands::next_command;
use crate::commands::summary::{Summary, causes};
use crate::error::{Exit, Failure};
use crate::settings::{Output, Settings};

pub(in crate::commands) async fn run(args: &Check, settings: &Settings) -> Result<Exit, Failure> {
    let file = open(&args.input.file, settings).await?;
    let mut input = spreadsheet(&file, &args.input, Purpose::Looking, settings).await?;
    input.is_strict = args.strict;
    let (record, template) = (input.template.record, input.template.name.clone());
    let defaults = input.template.defaulted.as_ref().map(|defaulted| defaulted.keys.iter().cloned().collect());
    // Rows are for programs, so nothing else is on standard output.
    let output = Output { json: settings.output.json || args.json_rows, ..settings.output };
    let console = Console::for_check(output);
    let pacing = &args.pacing;
    let next = next_command::with_pacing(next_command::of_input(&args.input, &template, &settings.context), pacing);
    let next =
        next.switch("strict", args.strict).switch("keep-lines", args.keep_lines).flag("titles", args.titles.language);
    let next = next.switch("for-supplier", args.for_supplier).to_string();
    let report = args.report.as_deref();
    let online =
        args.online.then_some(operations::ComparePace { rate: pacing.rate, concurrency: pacing.concurrency() });
    let check = operations::Check {
        input,
        report,
        for_supplier: args.for_supplier,
        has_rows: args.json_rows,
        next: &next,
        online,
        keep_lines: args.keep_lines,
    };
    let checked = operations::check(&settings.context, check, &|event| console.show(event)).await;
    let operations::CheckedFile { tally, requests } = match checked {
        Ok(checked) => checked,
        Err(error) => return Err(with_suggestion(error, &file, &args.input, settings).await),
    };
    let mut summary = Summary::of_tally("check", record, &template, &tally, &file.name);
    summary.next = Some(next).filter(|_| tally.to_send > 0 && tally.questions.is_empty());
    summary.problems = Some(causes(&tally.causes));
    summary.defaults = defaults;
    summary.other_requests = requests;
    summary.report = args.report.clone();
    if !args.json_rows {
        summary.print(output);
    }
    // Rows with a warning are rejected.
    let is_refused = args.strict && !tally.of_file.is_empty();
    Ok(if is_refused { Exit::RowsFailed } else { summary.exit() })
}
