//! Next commands, as shown in summaries, hints and reports.

use std::path::Path;

use sheetport_findings::Only;
use sheetport_ledger::{Accounting, Run, RunCommand, RunId, RunState};
use sheetport_report::Format;
use sheetport_send::StopReason;

use super::super::command_line::CommandLine;
use super::super::context::Context;
use super::super::files::{STANDARD_INPUT, is_writable, unused};

impl CommandLine {
    /// Starts a command such as `resume`, with the flags for the service, the profile and the home folder.
    pub fn new(context: &Context, command: &str) -> CommandLine {
        CommandLine::of(&context.given, command)
    }
}

/// Returns the command that goes on with a run, whatever it needs: sending the rest, or a decision about unknown outcomes.
pub(crate) fn go_on(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "continue").run(run).to_string()
}

/// Returns the command for sending the rest of a run.
pub(crate) fn resume(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "resume").run(run).to_string()
}

/// Returns the command for applying a plan, by its file of changes if there is one.
pub(crate) fn apply(context: &Context, run: RunId, changes: Option<&Path>) -> String {
    let command = CommandLine::new(context, "apply");
    match changes {
        Some(file) => command.file(file).to_string(),
        None => command.run(run).to_string(),
    }
}

/// Returns the command for taking a run back.
pub(crate) fn undo(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "undo").run(run).to_string()
}

/// Returns the command for planning the file of a run, or its undo, once more. `None` as for [`begin_again`].
pub(crate) fn plan_again(context: &Context, run: &Run) -> Option<String> {
    let about = &run.about;
    if let Some(undone) = about.undo_of {
        return Some(undo(context, undone));
    }
    if about.file == STANDARD_INPUT || about.command != RunCommand::Upload {
        return None;
    }
    let sheet = about.sheet.name().filter(|sheet| about.text_form.is_none() && !sheet.is_empty());
    let command = CommandLine::new(context, "plan").file(Path::new(&about.file));
    let command = command.short('t', "template", &about.template).flag("sheet", sheet);
    let only = about.settings.only.map(Only::name);
    let command = command.switch("changed-only", about.settings.changed_only).flag("only", only);
    let command = command.switch("fill-blank", about.settings.fill_blank);
    Some(command.switch("keep-lines", about.settings.keep_lines).to_string())
}

/// Returns the command for reading the file of a run once more. `None` if the file came from a pipe, or its name is not known here.
pub(crate) fn begin_again(context: &Context, run: &Run) -> Option<String> {
    let about = &run.about;
    if about.file == STANDARD_INPUT {
        return None;
    }
    let file = Path::new(&about.file);
    if about.command == RunCommand::Retry {
        return Some(CommandLine::new(context, "retry").file(file).to_string());
    }
    // A text has no sheets to choose from.
    let sheet = about.sheet.name().filter(|sheet| about.text_form.is_none() && !sheet.is_empty());
    let command = CommandLine::new(context, "upload").file(file).short('t', "template", &about.template);
    let command = command
        .flag("sheet", sheet)
        .flag("rows", about.chosen.map(|(first, last)| format!("{first}-{last}")))
        .switch("changed-only", about.settings.changed_only)
        .flag("only", about.settings.only.map(Only::name))
        .switch("fill-blank", about.settings.fill_blank)
        .switch("strict", about.settings.strict)
        .switch("all-or-nothing", about.settings.all_or_nothing);
    Some(command.to_string())
}

/// Returns the command for waiting until workers have sent a run.
pub(crate) fn wait(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "runs wait").run(run).to_string()
}

/// Returns the command for looking at what the ledger has lost of a run.
pub(crate) fn check(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "runs check").run(run).to_string()
}

/// Returns the command for deciding the unknown outcomes of a run.
pub(crate) fn resolve(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "resolve").run(run).to_string()
}

/// Returns the command for sending the refused records of a run again.
pub(crate) fn retry_run(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "retry").run(run).to_string()
}

/// Returns the command for writing the report of a run to a place where files can be written.
pub(super) fn report(context: &Context, run: RunId) -> String {
    let name = format!("report-{run}.xlsx");
    let here = unused(Path::new(&name));
    let path = if is_writable(&here) { here } else { unused(&std::env::temp_dir().join(name)) };
    CommandLine::new(context, "report").run(run).short('o', "output", path).to_string()
}

/// Returns the command for sending the superseded records of a run.
pub(crate) fn overwrite_newer(context: &Context, run: RunId) -> String {
    CommandLine::new(context, "retry").run(run).switch("overwrite-newer", true).to_string()
}

/// Returns the next command after a run, or `None` if the run needs no attention. `report` is the path of the report,
/// written or about to be written.
pub fn after_run(
    context: &Context,
    run: &Run,
    accounting: &Accounting,
    stopped: Option<&StopReason>,
    report: Option<&Path>,
) -> Option<String> {
    if run.state == RunState::Withheld {
        return Some(after_fixing(context, run, report));
    }
    if stopped.is_some_and(|why| why.is_wrong_address(has_sent(accounting))) {
        // Unknown outcomes must be decided first. No command sends the rest of this run.
        return (accounting.unknown > 0).then(|| resolve(context, run.id));
    }
    if stopped.is_some() || accounting.pending + accounting.unknown > 0 {
        return Some(go_on(context, run.id));
    }
    if let Some(undone) = run.about.undo_of {
        return (accounting.failed > 0).then(|| undo(context, undone));
    }
    has_problems(accounting).then(|| after_fixing(context, run, report))
}

/// Returns the next command after a person has decided about unknown outcomes.
pub(crate) fn after_resolving(context: &Context, run: &Run, accounting: &Accounting) -> Option<String> {
    match accounting.failed {
        // Nothing needs fixing: the records were not applied.
        1.. if accounting.rejected + accounting.pending + accounting.unknown == 0 && run.about.undo_of.is_none() => {
            Some(retry_run(context, run.id))
        }
        _ => after_run(context, run, accounting, None, None),
    }
}

/// Returns the command to run after the rows were fixed: the report is sent back, or written first if there is no
/// editable report.
fn after_fixing(context: &Context, run: &Run, report: Option<&Path>) -> String {
    match report.filter(|path| Format::of(path).is_some_and(Format::is_editable)) {
        Some(report) => CommandLine::new(context, "continue").file(report).to_string(),
        None => report_of_problems(context, run.id),
    }
}

/// Returns the command for writing the rows of a run that are to be fixed.
pub(crate) fn report_of_problems(context: &Context, run: RunId) -> String {
    let path = unused(Path::new(&format!("report-{run}.xlsx")));
    let report = CommandLine::new(context, "report").run(run).short('o', "output", path);
    report.flag("only", Some("problems")).to_string()
}

/// Whether the service has accepted records of a run.
pub fn has_sent(accounting: &Accounting) -> bool {
    accounting.sent + accounting.unchanged + accounting.failed > 0
}

pub(crate) fn has_problems(accounting: &Accounting) -> bool {
    accounting.rejected + accounting.failed + accounting.unknown > 0
}
