//! `resume`: continues a stopped run.

use sheetport_operations::{self as operations, SendOptions};

use crate::cli::{Resume, Sending};
use crate::commands::console::Console;
use crate::commands::console::signals::Interrupt;
use crate::commands::summary::finish::finish;
use crate::error::{Exit, Failure};
use crate::settings::Settings;

pub(in crate::commands) async fn run(args: &Resume, settings: &Settings) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let options = send_options(&args.sending);
    let observer = |event: operations::Event<'_>| console.show(event);
    let finished =
        operations::resume(&settings.context, args.run, options, Box::pin(interrupt.wait()), &observer).await;
    let finished = finished.map_err(|error| interrupt.after(error.into()))?;
    let (exit, summary) = finish("resume", finished, &interrupt, settings);
    summary.print(settings.output);
    Ok(exit)
}

/// Returns the flags for sending a run again.
pub(super) fn send_options(sending: &Sending) -> SendOptions<'_> {
    let Sending {
        rate,
        concurrency,
        max_errors,
        max_unknown,
        queue,
        priority,
        overwrite_newer,
        ref report,
        titles: _,
        for_supplier,
    } = *sending;
    let (overwrites_newer, is_to_queue, report) = (overwrite_newer, queue, report.as_deref());
    SendOptions {
        concurrency,
        rate,
        max_errors,
        max_unknown,
        priority,
        overwrites_newer,
        is_to_queue,
        report,
        for_supplier,
    }
}
