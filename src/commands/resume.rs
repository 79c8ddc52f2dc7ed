//! `resume`: continues a stopped run.

use super::shared::console::Console;
use super::shared::finish::finish;
use super::shared::signals::Interrupt;
use super::upload::send_options;
use crate::cli::Resume;
use crate::error::{Exit, Failure};
use crate::operations;
use crate::settings::Settings;

pub(super) async fn run(args: &Resume, settings: &Settings) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let options = send_options(&args.pacing, args.max_errors, &args.report);
    let observer = |event: operations::Event<'_>| console.show(event);
    let finished = operations::resume(&settings.context, args.run, options, interrupt.wait(), &observer).await?;
    let (exit, summary) = finish("resume", finished, &interrupt, settings.output.talks());
    summary.print(settings.output);
    Ok(exit)
}
