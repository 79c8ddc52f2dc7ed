//! Prints how a run ended, and chooses the exit code.

use sheetport_client::Stop;
use sheetport_language::say;
use sheetport_ledger::Accounting;
use sheetport_operations::{self as operations, Finished, Withheld};
use sheetport_send::StopReason;

use super::Summary;
use crate::commands::console::signals::Interrupt;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// Prints the reason for stopping and the service's refusals, and returns the exit code and the summary.
pub(in crate::commands) fn finish(
    command: &str,
    mut finished: Finished,
    interrupt: &Interrupt,
    settings: &Settings,
) -> (Exit, Summary) {
    let talks = settings.output.talks();
    let report = std::mem::replace(&mut finished.report, Ok(None));
    let Finished { run, accounting, withheld, stopped, was_finished, refused, rehearsed, is_queued, .. } = &finished;
    let (withheld, stopped) = (*withheld, stopped.as_ref());
    if *was_finished {
        ui::remark(say!("run {} was finished before and has no pending records", run.id));
    }
    if let Some(why) = withheld {
        ui::remark(match why {
            Withheld::RowsNeedFixing => "nothing was sent: some rows need fixing, and --all-or-nothing was given",
            Withheld::Warnings => "nothing was sent: the file has warnings, and --strict was given",
            Withheld::Questions => "nothing was sent: there is a question about the file",
            Withheld::Declined => "nothing was sent",
        });
    }
    if talks && !refused.is_empty() {
        ui::heading(&say!("Refused by the service"));
        ui::problems::print(refused);
    }
    let mut exit = exit_of(accounting, withheld, stopped, interrupt.exit());
    let stays = [&finished.moved_on, &finished.kept, &finished.cannot_undo];
    if exit == Exit::Done && stays.iter().any(|left_out| left_out.records > 0) {
        exit = Exit::RowsFailed;
    }
    if *is_queued {
        ui::remark(say!("run {} is queued for `sheetport work`", run.id));
        exit = Exit::Done;
    }
    let report = report.unwrap_or_else(|error| {
        let failure = Failure::from(error);
        ui::failure(&failure, false);
        if stopped.is_none() {
            exit = failure.exit();
        }
        None
    });
    if let Some(reason) = stopped {
        let doubt = ui::style::DOUBT;
        let saved =
            if rehearsed.is_some() { "nothing of a rehearsal is kept" } else { "all outcomes so far are saved" };
        ui::remark(say!("{doubt}stopped{doubt:#}: {reason}; {saved}"));
        if let Some(hint) = reason.hint(operations::has_sent(accounting)).filter(|_| rehearsed.is_none()) {
            ui::hint(&operations::with_login(&hint, &settings.context.given, &run.about.settings.profile));
        }
    }
    (exit, Summary::of_finished(command, finished, report))
}

/// Returns the exit code of a run.
pub(in crate::commands) fn exit_of(
    accounting: &Accounting,
    withheld: Option<Withheld>,
    stopped: Option<&StopReason>,
    interrupted: Exit,
) -> Exit {
    match stopped {
        Some(StopReason::Interrupted) => interrupted,
        Some(StopReason::Service(Stop::Unauthorized(_) | Stop::Forbidden(_))) => Exit::Credentials,
        Some(_) => Exit::Stopped,
        None if accounting.unknown > 0 => Exit::Unknown,
        None if withheld.is_some() || accounting.rejected + accounting.failed > 0 => Exit::RowsFailed,
        None => Exit::Done,
    }
}
