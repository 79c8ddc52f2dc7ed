//! `apply`: sends what is approved of a plan.

use sheetport_language::say;
use sheetport_operations::{self as operations, PlanTarget};

use super::resume::send_options;
use crate::cli::{Apply, RetryTarget};
use crate::commands::console::Console;
use crate::commands::console::signals::Interrupt;
use crate::commands::input::open;
use crate::commands::summary::finish::finish;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(in crate::commands) async fn run(args: &Apply, settings: &Settings) -> Result<Exit, Failure> {
    let (interrupt, console) = (Interrupt::default(), Console::new(settings.output));
    let file;
    let target = match args.target() {
        RetryTarget::Run(run) => PlanTarget::Run(run),
        RetryTarget::File(path) => {
            file = open(path, settings).await?;
            PlanTarget::File(&file)
        }
    };
    let request = operations::Apply {
        target,
        approve: args.approve,
        accepts_old: args.yes,
        asks_of_old: settings.output.can_ask().then_some(&applies_old),
        sending: send_options(&args.sending),
    };
    let observer = |event: operations::Event<'_>| console.show(event);
    let finished = operations::apply(&settings.context, request, Box::pin(interrupt.wait()), &observer).await;
    let finished = finished.map_err(|error| interrupt.after(error.into()))?;
    let (exit, summary) = finish("apply", finished, &interrupt, settings);
    summary.print(settings.output);
    Ok(exit)
}

/// Asks whether to apply an old plan.
fn applies_old(hours: i64) -> bool {
    let question = say!("The plan is {hours} hours old. Apply it all the same? [y/N]");
    matches!(ui::ask(&question).as_deref(), Some("y" | "yes"))
}
