//! Suggested commands that repeat the flags of the current command.

use sheetport_operations::{self as operations, CommandLine, Context};

use crate::cli::{Input, Pacing, Upload};

/// Returns the upload command with the same flags.
pub(super) fn upload(args: &Upload, template: &str, context: &Context) -> CommandLine {
    let names = args.allow_repeat.as_ref().map(|names| names.join(","));
    let (repeats, names) = (names.is_some(), names.filter(|names| !names.is_empty()));
    let rows = args.rows.map(|(first, last)| format!("{first}-{last}"));
    let command = with_pacing(of_input(&args.input, template, context), &args.pacing)
        .switch("changed-only", args.changed_only)
        .flag("only", args.only.map(|only| only.name()))
        .switch("fill-blank", args.fill_blank)
        .flag("rows", rows)
        .flag("max-errors", args.max_errors.map(|number| number.to_string()))
        .flag("max-unknown", args.max_unknown.map(|number| number.to_string()))
        .switch("strict", args.strict)
        .switch("yes", args.yes)
        .switch("all-or-nothing", args.all_or_nothing);
    let command = match names {
        Some(names) => command.joined("allow-repeat", &names),
        None => command.switch("allow-repeat", repeats),
    };
    command
        .switch("restore-texts", args.restore_texts)
        .switch("keep-lines", args.keep_lines)
        .switch("undoable", args.undoable)
        .switch("create-missing-items", args.create_missing_items)
        .switch("trigger-workflows", args.trigger_workflows)
        .flag("report", args.report.as_deref().map(operations::unused))
        .flag("titles", args.titles.language)
        .switch("for-supplier", args.for_supplier)
}

/// Returns the upload command with the same flags for reading the file.
pub(super) fn of_input(input: &Input, template: &str, context: &Context) -> CommandLine {
    let mut command = CommandLine::new(context, "upload").file(&input.file).short('t', "template", template);
    command = command.flag("sheet", input.sheet.as_ref());
    for (name, value) in &input.set {
        command = command.flag("set", Some(format!("{name}={value}")));
    }
    for (name, value) in input.of_sheet.in_use() {
        command = command.flag(name, Some(value));
    }
    for folder in &input.allow_lookup {
        command = command.flag("allow-lookup", Some(folder));
    }
    command = command.switch("reviewed", input.reviewed);
    for code in &input.accept {
        command = command.flag("accept", Some(code.name()));
    }
    let reading = input.reading.in_use();
    reading.into_iter().fold(command, |command, (name, value)| command.flag(name, Some(value)))
}

/// Adds the flags for the request rate.
pub(super) fn with_pacing(command: CommandLine, pacing: &Pacing) -> CommandLine {
    command
        .flag("rate", pacing.rate.map(|rate| rate.to_string()))
        .flag("concurrency", pacing.concurrency.map(|number| number.to_string()))
}
