//! `check`: finds all problems of a file in one pass, without a network.

use super::shared::console::Console;
use super::shared::input::{open, spreadsheet, upload_command};
use super::shared::summary::{Summary, causes};
use crate::cli::Check;
use crate::error::{Exit, Failure};
use crate::operations;
use crate::settings::Settings;

pub(super) async fn run(args: &Check, settings: &Settings) -> Result<Exit, Failure> {
    let file = open(&args.input.file)?;
    let input = spreadsheet(&file, &args.input)?;
    let (record, template) = (input.template.record, input.template.name.clone());
    let console = Console::for_check(settings.output);
    let (report, next) = (args.report.as_deref(), upload_command(&args.input));
    let tally = operations::check(&settings.context, input, report, &next, &|event| console.show(event)).await?;
    let mut summary = Summary::of_tally("check", record, &template, &tally, &file.name);
    summary.next = Some(next).filter(|_| tally.to_send > 0);
    summary.problems = Some(causes(&tally.causes));
    summary.report = args.report.clone();
    summary.print(settings.output);
    Ok(summary.exit())
}
