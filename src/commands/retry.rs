//! `retry`: sends the records of a report that were not accepted yet, or the refused records of a run.

use std::path::Path;

use super::shared::console::Console;
use super::shared::finish::finish;
use super::shared::input::open;
use super::shared::signals::Interrupt;
use super::shared::summary::Summary;
use super::upload::{print_requests, send_options};
use crate::cli::{Retry, RetryTarget};
use crate::error::{Exit, Failure};
use crate::operations::{self, RetryReport, TemplateChanges, load_template, quoted};
use crate::settings::Settings;

pub(super) async fn run(args: Retry, settings: &Settings) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let (context, talks) = (&settings.context, settings.output.talks());
    let observer = |event: operations::Event<'_>| console.show(event);
    let sending = send_options(&args.pacing, args.max_errors, &args.report);
    let (exit, summary) = match args.target() {
        RetryTarget::Run(run) => {
            check_flags(&args, run)?;
            let finished = operations::retry_run(context, run, sending, interrupt.wait(), &observer).await?;
            finish("retry", finished, &interrupt, talks)
        }
        RetryTarget::File(path) => {
            let file = open(path)?;
            let changes = TemplateChanges { parameters: &args.set, locale: None };
            let template = args.template.as_deref().map(|template| load_template(template, changes)).transpose()?;
            let (as_new, all_or_nothing, text) = (args.as_new, args.all_or_nothing, args.reading.options());
            let request = RetryReport { file: &file, text, template, as_new, all_or_nothing, sending };
            if args.dry_run {
                let (template, preview) = operations::preview_retry(context, request, &observer).await?;
                print_requests(&preview.requests, settings.output);
                let mut summary =
                    Summary::of_tally("retry", template.record, &template.name, &preview.tally, &file.name);
                summary.next = (preview.tally.to_send > 0).then(|| retry_command(&file.name));
                (summary.exit(), summary)
            } else {
                let finished = operations::retry_report(context, request, interrupt.wait(), &observer).await?;
                finish("retry", finished, &interrupt, talks)
            }
        }
    };
    summary.print(settings.output);
    Ok(exit)
}

/// Refuses flags that have no meaning for the number of a run.
fn check_flags(args: &Retry, run: i64) -> Result<(), Failure> {
    args.file_flag().map_or(Ok(()), |flag| {
        Err(Failure::new(
            Exit::Usage,
            format!("{flag} is for reports, but {run} is the number of a run"),
            format!("leave out {flag}, or name a file; write ./{run} for a file called {run}"),
        ))
    })
}

fn retry_command(file: &Path) -> String {
    format!("sheetport retry {}", quoted(&file.display().to_string()))
}
